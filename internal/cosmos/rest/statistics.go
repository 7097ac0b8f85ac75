package rest

import "strconv"

// hPopulateStatistics asks for the statistics of a container's ranges.
const hPopulateStatistics requestHeader = "X-Ms-Documentdb-Populatepartitionstatistics"

// usage is the number of live items in the container, and their size in KB.
func (e *exchange) usage() (documents, kb uint64, err error) {
	v, err := e.view()
	if err != nil {
		return 0, 0, err
	}
	u, err := e.api.store.Usage(e.Context(), v)
	return u.Documents, (u.Bytes + 1023) / 1024, err
}

// appendStatistics adds the statistics of the only range to the container in e.reply. The service samples partition
// keys and lists the large ones. mayfly samples none, so that list is empty.
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
