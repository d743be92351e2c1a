/** A process of readers that nobody knows: reads one URL with so many clients for so long, and reports what came of it. */
import autocannon from 'autocannon';

const [url = '', connections = '1', duration = '1'] = process.argv.slice(2);
const result = await autocannon({ url, connections: Number(connections), duration: Number(duration) });
process.send?.({ answers: result['2xx'], wrong: result.non2xx });
