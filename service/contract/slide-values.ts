/**
 * Values of the tables of slides, without the schemas: the build of the pages writes them into the pages, which therefore
 * load no schemas. Each must be JSON.
 */
export { blankSlide, drawnKinds, kindsWithOwnLength, shownFields, slideKinds } from './slides.ts';
