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

// appendStatistics adds the statistics of each range to the container in e.reply. The service samples partition keys
// and lists the large ones. mayfly samples none, so those lists are empty.
func (e *exchange) appendStatistics() error {
	v, err := e.view()
	if err != nil {
		return err
	}
	usage, err := e.api.store.UsageByRange(e.Context(), v)
	if err != nil {
		return err
	}
	b := append(e.reply[:len(e.reply)-1], `,"statistics":[`...)
	for i, u := range usage {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"id":"`...), uint64(u.Number), 10)
		b = strconv.AppendUint(append(b, `","sizeInKB":`...), (u.Bytes+1023)/1024, 10)
		b = strconv.AppendUint(append(b, `,"documentCount":`...), u.Documents, 10)
		b = append(b, `,"sampledDistinctPartitionKeyCount":0,"partitionKeys":[]}`...)
	}
	e.reply = append(b, "]}"...)
	return nil
}
