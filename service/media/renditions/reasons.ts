/** Why a medium has no rendition: sentences for people, whose translations are in the section `box` of the texts. */
export const reasons = {
  damaged: 'The file is damaged, or is not what its name says.',
  slow: 'Its conversion takes too long.',
  hours: 'The hours ended before its conversion did, twice: make SIGNAGE_CONVERT_HOURS longer.',
  program: 'No box has the program to convert it: install ffmpeg.',
  preview: 'The file has no picture that can be shown.',
  office: 'No box has LibreOffice to convert it: install libreoffice-impress and libreoffice-writer.',
  isolation: 'No box has bubblewrap, without which LibreOffice is not run: install bubblewrap.',
  off: 'Conversion is switched off (SIGNAGE_CONVERT).',
  room: 'It is converted once there is room for it: delete files, or raise SIGNAGE_MEDIA_QUOTA_BYTES.',
  fetch: (reason: string): string => `It cannot be fetched from the box that has converted it: ${reason}.`,
  unknown: 'Its conversion failed; the log of the box has the details.',
} as const;
