package rest

import (
	"net/http"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxPage is roughly the largest size of a page of a feed in bytes. A page always has at least one item, however
// large.
const maxPage = 4 << 20

// listItems answers one page of the items of a container, or of a part of it, in order of creation. With an A-IM
// header it answers the change feed instead.
func listItems(e *exchange) (status int, err error) {
	for try := 1; ; try++ {
		status, err := e.listItems()
		if err != store.ErrRangeGone || try == queryTries {
			return status, err
		}
		e.reply = e.reply[:0]
	}
}

func (e *exchange) listItems() (status int, err error) {
	v, err := e.enterItems()
	if err != nil {
		return 0, err
	}
	part, err := e.selected(v.State)
	if err != nil {
		return 0, err
	}
	size, err := e.pageSize()
	if err != nil {
		return 0, err
	}
	if e.given(hFeed) != "" {
		return listChanges(e, v, part, size)
	}
	var after access.Position
	if token := e.given(hContinuation); token != "" {
		if after, err = part.resume(token, v.Container); err != nil {
			return 0, err
		}
	}
	return http.StatusOK, e.page(v, &part, after, size)
}

// page writes one page of items. It looks one living item ahead, so that the last
// page has no continuation.
func (e *exchange) page(v catalog.View, part *selection, after access.Position, size int) error {
	of := part.inOrder(part.scope)
	e.openFeed(containerRID(v.Container), "Documents")
	var last access.Position
	rows := 0
	for d, err := range e.api.store.Scan(e.Context(), v, access.Access{Of: of, After: after}) {
		if err != nil {
			return err
		}
		if rows == 0 {
			if err := e.growReply(shown(d.Body)); err != nil {
				return err
			}
		} else if rows == size || len(e.reply) >= maxPage || e.growReply(shown(d.Body)) != nil {
			e.set(outContinuation, continuation(v.Container, part.token, last))
			break
		}
		if rows > 0 {
			e.reply = append(e.reply, ',')
		}
		e.reply = append(appendItem(e.reply, v.Container, &d), '}')
		last = append(last[:0], d.Position...)
		rows++
	}
	e.charge(feedCharge(rows, len(e.reply)))
	e.closeFeed(rows)
	return nil
}

// deletePartition deletes all items of the partition named in the header.
func deletePartition(e *exchange) (status int, err error) {
	v, partition, err := e.enterItem()
	if err != nil {
		return 0, err
	}
	count, err := e.api.store.DeletePartition(e.Context(), v.Container, v.Now, partition)
	if err != nil {
		return 0, err
	}
	e.charge(1 + float64(count))
	return http.StatusOK, nil
}
