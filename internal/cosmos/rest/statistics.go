package rest

import "strconv"

// hPopulateStatistics asks a read of a container for the statistics of its ranges.
const hPopulateStatistics requestHeader = "X-Ms-Documentdb-Populatepartitionstatistics"

// usage is how many items live in the container, and their size in KB.
func (e *exchange) usage() (documents, kb uint64, err error) {
	v, err := e.view()
	if err != nil {
		return 0, 0, err
	}
	u, err := e.door.store.Usage(e.Context(), v)
	return u.Documents, (u.Bytes + 1023) / 1024, err
}

// appendStatistics adds the statistics of the only range to the container in e.reply. The service samples partition
// keys and names the large ones; nothing is sampled here, so none is named.
func (e *exchange) appendStatistics() error {
	documents, kb, err := e.usage()
	if err != nil {
		return err
	}
	b := append(e.reply[:len(e.reply)-1], `,"statistics":[{"id":"0","sizeInKB":`...)
	b = strconv.AppendUint(b, kb, 10)
	b = strconv.AppendUint(append(b, `,"documentCount":`...), documents, 10)
	e.reply = append(b, `,"sampledDistinctPartitionKeyCount":0,"partitionKeys":[]}]}`...)
	return nil
}
