/** Signing in to a session, in a page beside the maintenance page. */
import type { MaintenanceView } from '../service/public.ts';
import type { PageSession, Sessions } from './sessions/index.ts';
import type { DisplayAssignment, Rotation } from './windows/displays.ts';
import type { LayeredWindow } from './windows/layers.ts';
import type { openSignInPage, SignInPage } from './windows/sign-in-page.ts';

interface Ports {
  sessions: Sessions;
  openPage: typeof openSignInPage;
  /** Leaves room for the page beside the maintenance page, or takes it back. */
  makeRoom(on: boolean): void;
  /** The maintenance key combination was pressed in the page. */
  onChord(): void;
}

interface Place {
  window: LayeredWindow;
  rotation: Rotation;
  displayId: number;
}

interface Running extends Place {
  name: string;
  address: string;
  page: SignInPage;
  session: PageSession;
}

export const createSignIn = ({ sessions, openPage, makeRoom, onChord }: Ports) => {
  let running: Running | null = null;
  /** Where a page is about to open; null: nowhere, or that was given up. */
  let opening: Place | null = null;

  const end = (): void => {
    const before = running;
    running = null;
    opening = null;
    if (before === null) return;
    before.page.close();
    makeRoom(false);
  };

  return {
    /** Opens the page of a session, in place of one that is open. */
    begin: async (name: string, address: string, place: Place): Promise<void> => {
      end();
      opening = place;
      const session = await sessions.open(name, address, sessions.signedInAtOf(name, address));
      // The maintenance page was closed meanwhile, or the display has gone.
      if (opening !== place) return;
      opening = null;
      const page = openPage(
        place.window,
        { partition: session.partition, address, rotation: place.rotation },
        { onChord, onEnd: () => running?.page === page && end() },
      );
      running = { ...place, name, address, page, session };
      makeRoom(true);
    },
    /**
     * Loads the slide's page once more, and closes it.
     * @returns whether somebody is signed in to it; null: nobody was signing in
     */
    finish: async (): Promise<boolean | null> => {
      if (running === null) return null;
      const { name, address, page, session } = running;
      // The page of an error says nothing about who is signed in.
      const isLoaded = await page.load();
      const isIn = isLoaded && !page.contents.isDestroyed() && !(await session.isOut(page.contents));
      if (isIn) {
        await sessions.signedIn(name, address);
        await session.keep(page.contents);
      }
      if (running?.page === page) end();
      return isIn;
    },
    /** Rotates the page, or closes it if its display was disconnected. */
    arrange: (assignments: readonly DisplayAssignment[]) => {
      const displayId = (running ?? opening)?.displayId;
      const current = assignments.find(({ display }) => display.id === displayId);
      if (current === undefined) end();
      else running?.page.rotate(current.rotation);
    },
    shown: (): MaintenanceView['signingIn'] =>
      running === null ? null : { session: running.name, address: running.address },
    end,
  };
};
