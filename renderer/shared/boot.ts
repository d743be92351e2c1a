import type { PageBoot } from '../../service/contract/page.ts';

/** The data that the service embedded in the page. */
export const readBoot = <Boot extends PageBoot>(page: Document): Boot =>
  JSON.parse(page.getElementById('boot')?.textContent ?? '') as Boot;
