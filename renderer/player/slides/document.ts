/** PDF documents by pdf.js: parsed in a worker, painted page by page. Loaded on demand, because pdf.js is large. */
import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, type RenderTask, version } from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';

/** How to paint a page, in device pixels. */
interface Frame {
  width: number;
  height: number;
  /** `cover`: the page fills the frame; `contain`: the frame shows all of the page. */
  fit: 'cover' | 'contain';
}

export type PagedDocument = Awaited<ReturnType<typeof openDocument>>;

/** Folder of the build with the files that pdf.js loads itself. */
const base = `/assets/pdf-${version}/`;
/** Limit of the pixels of a page and of a picture on it; no screen has more. */
const MOST_PIXELS = 3840 * 2160;
const MOST_PICTURE_PIXELS = 64_000_000;

const reasons: Record<string, string> = {
  PasswordException: 'is protected by a password',
  InvalidPDFException: "isn't a PDF document",
};

const paintPage = async (
  pdf: PDFDocumentProxy,
  index: number,
  { width, height, fit }: Frame,
  signal: AbortSignal,
): Promise<HTMLCanvasElement> => {
  const page = await pdf.getPage(index + 1);
  const canvas = document.createElement('canvas');
  let task: RenderTask | undefined;
  const stop = (): void => task?.cancel();
  try {
    signal.throwIfAborted();
    const natural = page.getViewport({ scale: 1 });
    const ratios = [width / natural.width, height / natural.height];
    const wanted = fit === 'cover' ? Math.max(...ratios) : Math.min(...ratios);
    const scale = Math.min(wanted, Math.sqrt(MOST_PIXELS / (natural.width * natural.height)));
    const viewport = page.getViewport({ scale });
    canvas.width = Math.max(1, Math.round(viewport.width));
    canvas.height = Math.max(1, Math.round(viewport.height));
    task = page.render({ canvas, viewport });
    signal.addEventListener('abort', stop, { once: true });
    await task.promise;
    signal.throwIfAborted();
    return canvas;
  } catch (error) {
    canvas.width = 0;
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    page.cleanup();
  }
};

/**
 * Opens a document; the signal closes it, and ends its worker.
 * Rejects with a reason that completes "the document ...".
 */
export const openDocument = async (url: string, signal: AbortSignal) => {
  GlobalWorkerOptions.workerSrc = workerUrl;
  const loading = getDocument({
    url,
    cMapUrl: `${base}cmaps/`,
    standardFontDataUrl: `${base}standard_fonts/`,
    wasmUrl: `${base}wasm/`,
    // WebAssembly would need a laxer Content-Security-Policy; pdf.js has the same decoders as scripts.
    useWasm: false,
    // If the server supports ranges, only the painted parts are fetched.
    disableAutoFetch: true,
    disableStream: true,
    maxImageSize: MOST_PICTURE_PIXELS,
    canvasMaxAreaInBytes: MOST_PICTURE_PIXELS * 4,
    verbosity: 0,
  });
  const close = (): void => void loading.destroy().catch(() => {});
  signal.addEventListener('abort', close, { once: true });
  const pdf = await loading.promise.catch((error: Error) => {
    close();
    signal.throwIfAborted();
    throw new Error(reasons[error.name] ?? 'cannot be loaded');
  });
  return {
    count: pdf.numPages,
    /** Paints a page (0-based) into a new canvas. Rejects if it can't be painted or the document was closed. */
    paint: (index: number, frame: Frame): Promise<HTMLCanvasElement> => paintPage(pdf, index, frame, signal),
  };
};
