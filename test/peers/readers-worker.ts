/** A process of anonymous readers: reads one URL with a number of clients for some time, and reports the results. */
import autocannon from 'autocannon';

const [url = '', connections = '1', duration = '1'] = process.argv.slice(2);
const result = await autocannon({ url, connections: Number(connections), duration: Number(duration) });
process.send?.({ answers: result['2xx'], wrong: result.non2xx });
