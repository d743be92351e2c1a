import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../service/pages/frames.ts';

const page = new URL('https://news.example/today');
const framer = new URL('http://192.168.1.7:8080');

const csp = (...policies: string[]) => ({ 'content-security-policy': policies.join(', ') });
const ancestors = (sources: string) => csp(`default-src *; frame-ancestors ${sources}`);
const xfo = (options: string) => ({ 'x-frame-options': options });

describe('a page', () => {
  it.each([
    ['that says nothing', {}, true],
    ['that denies', xfo('DENY'), false],
    ['that is for its own origin', xfo('SameOrigin'), false],
    ['with an option that browsers ignore', xfo('ALLOW-FROM http://192.168.1.7:8080'), true],
    ['with two headers, one of which denies', xfo('ALLOWALL, deny'), false],
    ['for nobody', ancestors("'none'"), false],
    ['for no source at all', ancestors(''), false],
    ['for itself', ancestors("'self'"), false],
    ['for anybody', ancestors('*'), true],
    ['for a scheme', ancestors('http:'), true],
    ['for another scheme', ancestors('https:'), false],
    ['for this origin', ancestors('http://192.168.1.7:8080'), true],
    ['for this origin among others', ancestors("'self' https://a.example http://192.168.1.7:8080"), true],
    ['for this host on any port', ancestors('http://192.168.1.7:*'), true],
    ['for this host on its default port', ancestors('http://192.168.1.7'), false],
    ['for this host by the scheme of the page alone', ancestors('192.168.1.7:8080'), false],
    ['for others', ancestors('https://*.example'), false],
    ['with a policy that says nothing of frames', csp("default-src 'self'"), true],
    ['whose policy overrides its option', { ...ancestors('*'), ...xfo('DENY') }, true],
    ['with two policies, one of which forbids', csp('frame-ancestors *', "frame-ancestors 'none'"), false],
    ['whose second directive is ignored', csp("frame-ancestors *; frame-ancestors 'none'"), true],
    ['in capitals', csp("Frame-Ancestors 'NONE'"), false],
    ['with nonsense for a source', ancestors('"http://192.168.1.7:8080"'), false],
  ])('%s', (_, headers, isFramable) => {
    expect(refusalOf(headers, page, framer) === null).toBe(isFramable);
  });

  it.each([
    ["'self'", 'https://news.example', true],
    ['*.example', 'https://news.example', true],
    ['*.example', 'https://example', false],
    ['http://news.example', 'https://news.example', true],
    ['https://news.example:443/path', 'https://news.example', true],
    ['https://other.example', 'https://news.example', false],
  ])('for %s in %s', (sources, origin, isFramable) => {
    expect(refusalOf(ancestors(sources), page, new URL(origin)) === null).toBe(isFramable);
  });

  it('of the same origin may be framed there', () => {
    expect(refusalOf(xfo('SAMEORIGIN'), page, new URL('https://news.example'))).toBeNull();
  });
});
