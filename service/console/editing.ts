/** Editing for the console and the command line: the content and the media, under `/console/api`. */
import type { Module } from '../module.ts';
import { type ContentDependencies, contentRoutes } from './content.ts';
import { type MediaDependencies, mediaRoutes } from './media.ts';

export interface Dependencies extends ContentDependencies, MediaDependencies {
  content: ContentDependencies['content'] & MediaDependencies['content'];
}

export const createEditing = (dependencies: Dependencies): Module => ({
  routes: { ...contentRoutes(dependencies), ...mediaRoutes(dependencies) },
});
