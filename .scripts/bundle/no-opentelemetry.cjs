/** Replaces @opentelemetry/api in the bundle: prom-client uses it for exemplars alone, which are off. */
module.exports = {};
