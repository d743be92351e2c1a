/** Drafts of the content. */
import { z } from 'zod';
import { publishedContent } from '../console/content.ts';
import { draft, draftId, draftList, draftQuery, draftRequest, passedDraft, peerDrafts } from '../console/drafts.ts';
import { digestExample, momentExample, nodeExample } from './examples.ts';
import { entityTag, json, type Operations, ok, okSealable } from './operation.ts';

const params = z.object({ id: draftId });
const examples = { id: 'easter' };
const content = { screens: [{ name: 'Lobby', slug: 'lobby' }] };
const fields = {
  id: 'easter',
  title: 'Easter',
  base_sha256: digestExample,
  author: { id: null, name: 'Maria' },
  updated_at: momentExample,
  updated_by: { id: null, name: 'Maria' },
  submitted_by: null,
  note: null,
  state: 'open',
};
const summary = { ...fields, editing: ['Maria'] };
const draftExample = { ...summary, content };
const head = { ...fields, counters: { [nodeExample]: 12 }, removed: false, etag: digestExample };

export const drafts = {
  'GET /console/api/drafts': {
    role: 'viewer',
    summary: 'List the drafts',
    answer: ok('The drafts, without their documents.', draftList, { drafts: [summary] }),
  },
  'GET /console/api/drafts/:id': {
    role: 'viewer',
    acts: true,
    summary: 'Get a draft',
    description: 'Its document is as it was saved, and need not be valid.',
    params,
    query: draftQuery,
    answer: { 200: { description: 'The draft.', headers: entityTag, content: json(draft, draftExample) } },
    errors: ['invalid_field', 'draft_not_found'],
    examples,
  },
  'PUT /console/api/drafts/:id': {
    role: 'editor',
    summary: 'Save a draft',
    description: 'Needs If-Match where the draft exists.',
    params,
    body: json(draftRequest, { title: 'Easter', base_sha256: digestExample, content }),
    answer: {
      201: { description: 'The new draft.', headers: entityTag, content: json(draft, draftExample) },
      200: { description: 'The draft.', headers: entityTag, content: json(draft, draftExample) },
    },
    errors: [
      'box_older',
      'precondition_required',
      'draft_changed',
      'too_many_drafts',
      'too_many_requests',
      'insufficient_storage',
    ],
    examples,
  },
  'DELETE /console/api/drafts/:id': {
    role: 'editor',
    audit: { action: 'draft.delete', subject: 'draft', id: 'id' },
    summary: 'Delete a draft',
    params,
    answer: { 204: { description: 'The draft is gone on all boxes.' } },
    errors: ['invalid_field', 'draft_not_found', 'draft_changed', 'insufficient_storage'],
    examples,
  },
  'POST /console/api/drafts/:id/publish': {
    role: 'publisher',
    scope: 'refused',
    audit: { action: 'draft.publish', subject: 'publication', id: 'id' },
    summary: 'Publish a draft',
    description:
      'What is published is what If-Match names. If other content was published since the draft was begun, both are merged by slide and field; what both changed is a conflict. The draft is gone afterwards.',
    params,
    answer: {
      200: {
        description: 'It plays.',
        headers: entityTag,
        content: json(publishedContent, { sha256: digestExample, changedAt: momentExample, warnings: [] }),
      },
    },
    errors: [
      'invalid_field',
      'draft_not_found',
      'precondition_required',
      'draft_changed',
      'draft_conflict',
      'box_older',
      'invalid_content',
      'content_changed',
      'insufficient_storage',
    ],
    examples,
  },
  'GET /api/peers/drafts': {
    summary: 'List the drafts of this box, and who is editing there',
    answer: okSealable('The drafts that rest, removed ones included.', peerDrafts, {
      drafts: [head],
      editing: { easter: ['Maria'] },
    }),
  },
  'GET /api/peers/drafts/:id': {
    summary: 'Get a draft of this box',
    params,
    answer: okSealable('The draft.', passedDraft, { ...head, content }),
    errors: ['draft_not_found'],
    examples,
  },
} as const satisfies Operations;
