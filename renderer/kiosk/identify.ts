/** The page that the kiosk lays over a display to say which one it is. */
import './identify.css';
import { createIdentifyPanel } from '../shared/identify.ts';

const query = new URLSearchParams(location.search);

document.body.append(
  createIdentifyPanel({
    name: query.get('name') ?? '',
    address: query.get('address'),
    number: Number(query.get('number')),
  }),
);
