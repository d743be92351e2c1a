/** The part of libheif-js that is used; its own declarations are of the C functions. */
declare module 'libheif-js/wasm-bundle.js' {
  interface Picture {
    data: Uint8ClampedArray;
    width: number;
    height: number;
  }
  interface HeifImage {
    is_primary(): boolean | number;
    get_width(): number;
    get_height(): number;
    /** Fills the picture with RGBA, upright; null: it cannot be decoded. */
    display(target: Picture, done: (decoded: Picture | null) => void): void;
  }
  const libheif: { HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] } };
  export = libheif;
}
