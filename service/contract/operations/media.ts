/** Uploads, the address of every medium, local copies of remote media, and releases for the other boxes of the site. */
import { z } from 'zod';
import {
  copyParams,
  copyQuery,
  loudnessHeader,
  mediaConfig,
  mediumQuery,
  renditionHeader,
  renditionParams,
  uploadResult,
} from '../media.ts';
import { digestExample } from './examples.ts';
import { entityTag, file, json, medium, type Operations, ok } from './operation.ts';

const params = z.object({
  filename: z
    .string()
    .describe(
      'One path segment, percent-encoded: at most 255 bytes in UTF-8, no control characters, no leading dot, none of `/ \\ : * ? " < > |`, no reserved name of Windows.',
    ),
});
const examples = { filename: 'hall.jpg' };

const renditionAnswer = (description: string) => {
  const answer = medium(description);
  const made = {
    [renditionHeader]: { description: 'How the rendition was made; absent: no rendition', schema: z.string() },
    [loudnessHeader]: { description: 'LUFS (EBU R 128); absent: not known, or no sound', schema: z.string() },
  };
  return {
    ...answer,
    200: { ...answer[200], headers: { ...answer[200].headers, ...made } },
    206: { ...answer[206], headers: { ...answer[206].headers, ...made } },
  };
};

const uploaded = json(uploadResult, {
  filename: 'hall.jpg',
  size: 482113,
  sha256: digestExample,
  url: '/media/hall.jpg',
  media_type: 'image/jpeg',
});

export const media = {
  'GET /media/:filename': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get a medium',
    description:
      'From the upload directory, else from the media directory. Supports ranges and validators (RFC 9110). Of a file that browsers do not show, or show badly, a rendition is sent once there is one; a range whose If-Range is the entity tag of the original continues the original. A file whose name and first bytes do not indicate the same harmless media type is sent as an attachment of type application/octet-stream.',
    params,
    query: mediumQuery,
    answer: renditionAnswer('The file, under its own media type, or its rendition.'),
    errors: ['invalid_field', 'file_not_found', 'precondition_failed', 'range_not_satisfiable', 'media_not_ready'],
    examples,
  },
  'GET /api/media/config': {
    role: 'viewer',
    summary: 'Get the media directories',
    answer: ok('The directories.', mediaConfig, {
      uploadDir: '/var/lib/signage-player/uploads',
      mediaDir: '/var/lib/signage-player/media',
    }),
  },
  'PUT /api/media/:filename': {
    role: 'editor',
    scope: 'judged',
    audit: { action: 'medium.upload', subject: 'medium', id: 'filename' },
    summary: 'Upload a file',
    description:
      'The body is the file, of any type, without content coding and without Content-Range. The write is atomic, and durable when the response is sent. If-Match and If-None-Match are compared with the entity tag of /media/{filename}?original; `If-None-Match: *` fails where another box has the file, too.',
    params,
    body: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
    answer: {
      201: { description: 'The file is on the disk.', headers: entityTag, content: uploaded },
      200: { description: 'The file replaced an existing one.', headers: entityTag, content: uploaded },
    },
    errors: [
      'invalid_field',
      'precondition_failed',
      'payload_too_large',
      'unsupported_media_type',
      'request_timeout',
      'insufficient_storage',
    ],
    examples,
  },
  'DELETE /api/media/:filename': {
    role: 'editor',
    scope: 'judged',
    audit: { action: 'medium.delete', subject: 'medium', id: 'filename' },
    summary: 'Delete a file on the whole site',
    description:
      'Deletes the file on all boxes. The deletion is recorded for 400 days, so that a box that was away does not restore the file; a later upload with the same name does.',
    params,
    answer: { 204: { description: 'The file is deleted.' } },
    errors: ['invalid_field', 'file_not_found', 'precondition_failed'],
    examples,
  },
} as const satisfies Operations;

export const copies = {
  'GET /copies': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the local copy of a remote medium',
    description:
      'Only for media that the content names. Supports ranges and validators (RFC 9110). As for uploads, a rendition is sent in the place of a copy that browsers show badly.',
    query: copyQuery,
    answer: {
      ...renditionAnswer('The copy, under the media type that its bytes have, or its rendition.'),
      302: {
        description: 'There is no copy yet.',
        headers: { Location: { description: 'The remote address itself', schema: z.string(), required: true } },
      },
    },
    errors: ['address_withheld', 'file_not_found', 'precondition_failed', 'range_not_satisfiable', 'media_not_ready'],
    examples: { url: 'https://cdn.example.com/film.mp4' },
  },
  'GET /copies/:sha256': {
    access: 'public',
    summary: 'Get a local copy by its hash',
    description: 'Used by the other boxes of the site. Supports ranges and validators (RFC 9110).',
    params: copyParams,
    answer: medium('The copy, under the media type that its bytes have.'),
    errors: ['file_not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { sha256: digestExample },
  },
  'GET /renditions/:sha256': {
    access: 'public',
    summary: 'Get a rendition by its hash',
    description: 'Used by the other boxes of the site. Supports ranges and validators (RFC 9110).',
    params: renditionParams,
    answer: medium('The rendition.'),
    errors: ['file_not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { sha256: digestExample },
  },
} as const satisfies Operations;

export const updates = {
  'GET /updates/:filename': {
    access: 'public',
    summary: 'Get a file of the signed release that this box has downloaded',
    description: 'The metadata, the signature or the installer. The receiver checks the signature.',
    params: z.object({ filename: z.string().describe('Name of the file.') }),
    answer: {
      ...file('The file.'),
      206: { ...file('A range of the file.')[200], headers: entityTag },
      304: { description: 'The file is the one that If-None-Match or If-Modified-Since names.' },
    },
    errors: ['not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { filename: 'latest-linux.yml' },
  },
} as const satisfies Operations;
