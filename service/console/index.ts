/** `/console/api`: what an operator sees and changes of a whole site. */
import type { Module, ServiceContext } from '../module.ts';
import { createEditing, type Dependencies as Editing } from './editing.ts';
import { createOperating, type Dependencies as Operating } from './operating.ts';

type Dependencies = Editing & Operating;

export const createConsole = (context: ServiceContext, dependencies: Dependencies): Module => {
  const editing = createEditing(context, dependencies);
  const operating = createOperating(context, dependencies);
  return {
    ...operating,
    routes: { ...editing.routes, ...operating.routes },
    close: async () => {
      await editing.close?.();
      await operating.close?.();
    },
  };
};
