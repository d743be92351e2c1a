/** The authority of the site: what people install, and what operators see. */
import { z } from 'zod';
import { siteRoot } from '../authority.ts';
import { momentExample } from './examples.ts';
import { type Operations, ok } from './operation.ts';

const fingerprint = Array.from({ length: 32 }, (_, index) => (index * 7 + 16).toString(16).toUpperCase()).join(':');

const example = {
  fingerprint,
  not_before: momentExample,
  not_after: '2036-01-31T08:00:00.000Z',
  root: '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n',
  replaced: 0,
};

const binary = z.string().meta({ format: 'binary' });

export const trust = {
  'GET /trust': {
    access: 'public',
    summary: 'Get the page that shows how to install the root certificate of the site',
    answer: {
      200: {
        description: 'The page.',
        content: { 'text/html': { schema: z.string(), example: '<!doctype html><html lang="en">...</html>' } },
      },
    },
    errors: ['trust_unavailable'],
  },
  'GET /trust/root.crt': {
    access: 'public',
    summary: 'Get the root certificate of the site',
    answer: {
      200: { description: 'The certificate, DER.', content: { 'application/x-x509-ca-cert': { schema: binary } } },
    },
    errors: ['trust_unavailable'],
  },
  'GET /trust/root.mobileconfig': {
    access: 'public',
    summary: 'Get the root certificate of the site as a profile for iOS and macOS',
    answer: {
      200: {
        description: 'The configuration profile, XML.',
        content: { 'application/x-apple-aspen-config': { schema: z.string() } },
      },
    },
    errors: ['trust_unavailable'],
  },
} as const satisfies Operations;

export const authority = {
  'GET /console/api/ca': {
    role: 'viewer',
    summary: 'Get the root certificate of the site',
    answer: ok('The root certificate.', siteRoot, example),
    errors: ['trust_unavailable'],
  },
  'POST /console/api/ca/renew': {
    role: 'admin',
    audit: { action: 'ca.renew', subject: 'authority' },
    summary: 'Replace the root certificate of the site',
    description:
      'After a theft, and before it ends. The previous root never counts again: each box deletes its intermediate as soon as it hears of it. People must remove the previous root from their devices, and install the new one.',
    answer: ok('The new root certificate.', siteRoot, example),
    errors: ['trust_unavailable', 'too_many_roots', 'clock_unset', 'insufficient_storage'],
  },
} as const satisfies Operations;
