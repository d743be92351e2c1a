/** What the ids of designs begin with in `template_id`. */
export const designPrefix = 'design:';
