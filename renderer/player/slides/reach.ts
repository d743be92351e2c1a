/**
 * What a rendered template may load. Its author may name any address; the feeds and API data that it is rendered
 * with may not. An address that does not begin with one that the author wrote is loaded only by the service, as a copy,
 * and only from a network scope at least as wide as that of its source.
 */
import { stringify, TokenType, tokenize } from '@csstools/css-tokenizer';
import { parseUrl } from '../../../service/contract/url.ts';
import { addressOf, textsOf } from '../../../service/domain/markup.ts';

/** Addresses in a text of the author, each up to the next Liquid tag. */
const WRITTEN = /(?:https?:|(?<=["'(=\s]))\/\/[^\s"'()<>,\\{}|]+/gi;
/** Paths of this service that templates may load. */
const OWN_FILES = /^\/(?:media|copies|assets)(?:\/|$)/;
/** Paths of this service at which a request has an effect, or whose answers are not for templates. */
const OWN_OPERATIONS = /^\/(?:api|onboard|console|updates)(?:\/|$)/;

const LOADING = new Set(['src', 'srcset', 'href', 'xlink:href', 'poster', 'background', 'data', 'imagesrcset', 'ping']);
const STYLING = new Set(
  'style fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end'.split(' '),
);
/** A density or a width in a `srcset`. */
const DESCRIPTOR = /^[\d.]+[wxh]$/;

/**
 * @param written all texts by the author of the template and its slide
 * @param base the address of the page
 */
export const createReach = (written: unknown, base: string) => {
  const { origin } = new URL(base);

  const resolve = (address: string): URL | null => parseUrl(address, base);

  const named = textsOf(written)
    .flatMap((text) => text.match(WRITTEN) ?? [])
    .flatMap((address) => resolve(addressOf(address)) ?? [])
    .map((url) => url.href.replace(/#.*$/, ''));

  const isNamed = ({ href }: URL): boolean => named.some((beginning) => href.startsWith(beginning));

  const mayLoad = (address: string): boolean => {
    const url = resolve(address);
    if (url === null) return false;
    if (url.protocol === 'data:' || url.protocol === 'blob:') return true;
    // A reference within the markup loads nothing.
    if (/^\s*#/.test(address)) return true;
    return url.origin === origin ? OWN_FILES.test(url.pathname) : /^https?:$/.test(url.protocol) && isNamed(url);
  };

  /** A string in a style can be a font's name, or become part of an address through a variable. */
  const isHarmless = (text: string): boolean => {
    const url = resolve(text);
    if (url === null || !/^(?:https?|wss?|ftp):$/.test(url.protocol)) return true;
    return url.origin === origin ? !OWN_OPERATIONS.test(url.pathname) : isNamed(url);
  };

  const confineStyle = (css: string, loaded: string[]): string => {
    const tokens = tokenize({ css }).map((token): typeof token => {
      if (token[0] === TokenType.URL) {
        if (mayLoad(token[4].value)) loaded.push(token[4].value);
        else return [TokenType.URL, 'url(about:invalid)', token[2], token[3], { value: 'about:invalid' }];
      }
      if (token[0] === TokenType.String) {
        if (!isHarmless(token[4].value)) return [TokenType.String, '""', token[2], token[3], { value: '' }];
        if (mayLoad(token[4].value)) loaded.push(token[4].value);
      }
      return token;
    });
    return stringify(...tokens);
  };

  const mayLoadAll = (sources: string): boolean =>
    sources
      .split(/\s+/)
      .map((part) => part.replace(/^,+|,+$/g, ''))
      .every((part) => part === '' || DESCRIPTOR.test(part) || mayLoad(part));

  const isKept = (element: Element, { name, value }: Attr): boolean => {
    if (!LOADING.has(name)) return true;
    if (name === 'href' && /^(?:a|area)$/i.test(element.localName)) return true;
    return name.endsWith('srcset') ? mayLoadAll(value) : mayLoad(value);
  };

  return {
    /** Whether the display itself may load an address of an element or a style. */
    mayLoad,
    /**
     * Removes from a detached element every address that it must not load, in elements, attributes and styles.
     * @returns the addresses that its styles load
     */
    confine: (root: Element): string[] => {
      const loaded: string[] = [];
      for (const element of root.querySelectorAll('*')) {
        if (element.localName === 'style') element.textContent = confineStyle(element.textContent, loaded);
        for (const attribute of [...element.attributes]) {
          if (STYLING.has(attribute.name)) attribute.value = confineStyle(attribute.value, loaded);
          else if (!isKept(element, attribute)) element.removeAttribute(attribute.name);
        }
      }
      return loaded;
    },
  };
};
