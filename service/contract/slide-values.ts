/** Values of the tables of slides, without the schemas. The build evaluates this file. */
export {
  blankSlide,
  drawnKinds,
  extendedKinds,
  fileKinds,
  kindsWithOwnLength,
  shownFields,
  slideKinds,
} from './slides.ts';
