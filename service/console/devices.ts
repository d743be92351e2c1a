/** `DELETE /console/api/devices/{deviceId}`. */
import { CodedError } from '../contract/errors.ts';
import { typedDeviceId } from '../contract/terms.ts';
import type { Devices } from '../devices/index.ts';
import type { Routes } from '../http/routes.ts';

/** @param devices stores that the device is forgotten, which the other boxes then fetch */
export const deviceRoutes = (devices: Pick<Devices, 'forget'>): Routes => ({
  'DELETE /console/api/devices/:deviceId': async (ctx) => {
    const { data: deviceId } = typedDeviceId.safeParse(ctx.params.deviceId);
    if (deviceId === undefined) {
      throw new CodedError('invalid_field', 'deviceId is not valid: 1 to 128 of A-Z a-z 0-9 . _ : -.', {
        field: 'deviceId',
      });
    }
    await devices.forget(deviceId, ctx.state.log);
    ctx.status = 204;
  },
});
