import type { PageBoot } from '../../service/contract/page.ts';

/** What the service wrote into a page as it served it. */
export const readBoot = <Boot extends PageBoot>(page: Document): Boot =>
  JSON.parse(page.getElementById('boot')?.textContent ?? '') as Boot;
