/** Editing of the content and choosing of media, under `/console/api`. */
import type { Operations } from '../operation.ts';
import { content } from './content.ts';
import { media } from './media.ts';

export const editing = { ...content, ...media } as const satisfies Operations;
