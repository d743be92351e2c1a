/** Writes the types of the texts, for the type checker. */
import { declareTexts } from './languages.ts';

declareTexts();
