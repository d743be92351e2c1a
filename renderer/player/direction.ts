const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** The direction of a text, by its first letter. */
export const directionOf = (text: string): 'ltr' | 'rtl' => {
  const [first = ''] = /\p{L}/u.exec(text) ?? [];
  return RIGHT_TO_LEFT.test(first) ? 'rtl' : 'ltr';
};
