package rest

import (
	"fmt"
	"strconv"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// Headers about the number of ranges: in the request that creates a container, and in every answer that shows one.
const (
	hPartitions   requestHeader = "X-Mayfly-Partitions"
	outPartitions answerHeader  = "x-mayfly-partitions"
)

// partitions is how many ranges a new container gets: as many as the header says, else the server's default. A
// container without a partition key has a single partition, so one range by default.
func (e *exchange) partitions(def *catalog.Definition) (int, error) {
	n, given, err := e.count(hPartitions)
	switch {
	case err != nil || given && (n < 1 || n > catalog.MaxPartitions):
		return 0, badHeader(e.given(hPartitions), hPartitions,
			fmt.Sprintf("Send how many ranges the container is to have, from 1 to %d.", catalog.MaxPartitions))
	case given:
		return n, nil
	case hasSystemPath(def.Partition):
		return 1, nil
	}
	return e.api.partitions, nil
}

// sendPartitions sends how many ranges the container has.
func (e *exchange) sendPartitions(st *catalog.State) {
	e.set(outPartitions, strconv.Itoa(len(st.Ranges())))
}
