/** Follows the status of a device over a socket, or by polling without one. */
import type { LandingMessage, MediaProgress, OnboardingStatus } from '../../service/contract/onboarding.ts';
import { deviceHeaders } from '../shared/device.ts';
import type { PageToken } from '../shared/page-token.ts';
import { patientFetch, waitMs } from '../shared/patience.ts';

interface Handlers {
  onStatus(status: OnboardingStatus): void;
  /** The URL of the form; null: no other machine can reach this one. */
  onFormUrl(formUrl: string | null): void;
  /** Whether the content has a screen. */
  onScreens(hasScreens: boolean): void;
  /** The progress of copying the media of the site. */
  onMedia(media: MediaProgress): void;
  /** The form was opened on a phone. */
  onOpened(): void;
  /** Whether the service answers. */
  onReach(isThere: boolean): void;
}

const CONNECT_MS = 10_000;
/** Polling without a message, which also finds dead sockets. */
const LOOK_MS = 30_000;

export const follow = (deviceId: string, token: PageToken, handlers: Handlers): void => {
  let socket: WebSocket | null = null;
  let failures = 0;

  const look = async (): Promise<void> => {
    try {
      const path = `/api/onboarding/status?deviceId=${deviceId}`;
      const headers = { ...token.header(), ...deviceHeaders(deviceId) };
      const status = await patientFetch(path, { headers }, (response) => {
        if (!response.ok) throw new Error(`the status answers ${response.status}`);
        return response.json();
      });
      handlers.onStatus(status as OnboardingStatus);
      handlers.onReach(true);
    } catch {
      handlers.onReach(false);
      socket?.close();
    }
  };

  const hear = (message: LandingMessage): void => {
    if (message.type === 'opened') return handlers.onOpened();
    failures = 0;
    handlers.onReach(true);
    handlers.onFormUrl(message.formUrl);
    handlers.onScreens(message.hasScreens);
    handlers.onMedia(message.media);
    handlers.onStatus(message);
  };

  const connect = (): void => {
    const url = new URL(`/api/onboarding/socket?deviceId=${deviceId}`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const opened = new WebSocket(url, token.protocols());
    const deadline = setTimeout(() => opened.close(), CONNECT_MS);
    let refused = true;
    socket = opened;
    opened.onopen = () => {
      clearTimeout(deadline);
      refused = false;
    };
    opened.onmessage = ({ data }) => hear(JSON.parse(String(data)) as LandingMessage);
    opened.onclose = () => {
      clearTimeout(deadline);
      setTimeout(connect, waitMs(failures++));
      // A browser does not report why a socket was refused; it may be the token.
      if (refused) void token.renew();
      void look();
    };
  };

  connect();
  setInterval(look, LOOK_MS);
  addEventListener('online', look);
};
