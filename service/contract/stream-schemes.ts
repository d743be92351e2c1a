/** Schemes of the live streams that the service turns into HLS, without a schema, for pages. */
export const streamSchemes = ['rtmp', 'rtmps', 'rtsp', 'rtsps', 'srt'] as const;
export type StreamScheme = (typeof streamSchemes)[number];
