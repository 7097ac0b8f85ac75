package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A named is one kind of small named resource: scripts, users, permissions.
// Its methods are their routes.
type named struct {
	kind catalog.ResourceKind
	feed string // key of the list in a feed

	// owner finds what the path's resources belong to. An owner that is missing
	// is fault.OwnerNotFound.
	owner func(e *exchange) (family, error)

	// content checks a body and returns what is kept of it, without the id. old is the
	// resource that it replaces, nil for a new one.
	content func(e *exchange, of family, d doc.Doc, old *catalog.Resource) (doc.Doc, error)

	// system renders the members that only this kind has.
	system func(e *exchange, dst []byte, r *catalog.Resource) ([]byte, error)

	rid func(of family, r *catalog.Resource) rid
}

// A family is the owner of named resources, and the links to it and them.
type family struct {
	owner   catalog.Owner
	rid     rid
	links   []link
	segment string
}

func resourceVersion(r *catalog.Resource) store.Version {
	return store.Version{Sequence: r.Sequence, Stamp: r.Stamp}
}

func (n *named) list(e *exchange) (int, error) {
	of, err := n.owner(e)
	if err != nil {
		return 0, err
	}
	return listing(e, of.rid, n.feed, e.door.catalog.Resources(n.kind, of.owner), resourceNumber,
		func(r *catalog.Resource) error { return n.append(e, of, r) })
}

func resourceNumber(r *catalog.Resource) uint64 { return r.Number }

func (n *named) create(e *exchange) (int, error) {
	of, err := n.owner(e)
	if err != nil {
		return 0, err
	}
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	name, err := nameOf(d)
	if err != nil {
		return 0, err
	}
	if e.flag(hUpsert) {
		if old, err := e.door.catalog.Resource(n.kind, of.owner, name); err == nil {
			return n.put(e, of, d, old)
		}
	}
	content, err := n.content(e, of, d, nil)
	if err != nil {
		return 0, err
	}
	r, err := e.door.catalog.CreateResource(e.Context(), e.now, n.kind, of.owner, name, content)
	if err != nil {
		return 0, err
	}
	e.charge(createCharge(content))
	return n.answer(e, of, r, http.StatusCreated)
}

func (n *named) read(e *exchange) (int, error) {
	of, r, err := n.find(e)
	if err != nil {
		return 0, err
	}
	return n.answer(e, of, r, http.StatusOK)
}

func (n *named) replace(e *exchange) (int, error) {
	of, old, err := n.find(e)
	if err != nil {
		return 0, err
	}
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	return n.put(e, of, d, old)
}

// put replaces old; it may get another name.
func (n *named) put(e *exchange, of family, d doc.Doc, old *catalog.Resource) (int, error) {
	name, err := nameOf(d)
	if err != nil {
		return 0, err
	}
	if err := e.stale(resourceVersion(old)); err != nil {
		return 0, err
	}
	content, err := n.content(e, of, d, old)
	if err != nil {
		return 0, err
	}
	r, err := e.door.catalog.ReplaceResource(e.Context(), e.now, old, name, content)
	if err != nil {
		return 0, e.raced(err)
	}
	e.charge(replaceCharge(content))
	return n.answer(e, of, r, http.StatusOK)
}

func (n *named) delete(e *exchange) (int, error) {
	_, old, err := n.find(e)
	if err != nil {
		return 0, err
	}
	if err := e.door.catalog.DeleteResource(e.Context(), old); err != nil {
		return 0, e.raced(err)
	}
	e.charge(deleteCharge(old.Body))
	return http.StatusNoContent, nil
}

// raced is the error of a change that another client's came before: without a
// condition it is no failed condition, and may be tried again.
func (e *exchange) raced(err error) error {
	if fault.KindOf(err) == fault.Precondition && e.ifMatch() == nil {
		return fault.Wrap(fault.Conflict, err, "The resource was changed by another request at the same time. Try again.")
	}
	return err
}

// find looks for the resource of the path by name, then by RID, and decides
// the request's conditions.
func (n *named) find(e *exchange) (family, *catalog.Resource, error) {
	of, err := n.owner(e)
	if err != nil {
		return of, nil, err
	}
	r, err := e.door.catalog.Resource(n.kind, of.owner, e.name)
	if err != nil {
		if r = n.byRID(e, of); r == nil {
			return of, nil, errMissing
		}
	}
	return of, r, e.stale(resourceVersion(r))
}

func (n *named) byRID(e *exchange, of family) *catalog.Resource {
	id, ok := parseRID(e.name)
	if !ok {
		return nil
	}
	for _, r := range e.door.catalog.Resources(n.kind, of.owner) {
		if n.rid(of, r) == id {
			return r
		}
	}
	return nil
}

func (n *named) answer(e *exchange, of family, r *catalog.Resource, status int) (int, error) {
	e.etag(resourceVersion(r))
	return status, n.append(e, of, r)
}

// append renders {id, the resource's own members, system members}.
func (n *named) append(e *exchange, of family, r *catalog.Resource) (err error) {
	id := n.rid(of, r)
	b := appendText(e.reply, "id", r.Name)
	b[len(e.reply)] = '{' // in the place of the first comma
	if len(r.Body) > emptyDoc {
		b = doc.AppendMembers(append(b, ','), r.Body)
	}
	b = appendRID(b, "_rid", id)
	b = appendSelf(b, append(slices.Clone(of.links), link{of.segment, id})...)
	b = appendETagMember(b, resourceVersion(r))
	if b, err = n.system(e, b, r); err != nil {
		return err
	}
	e.reply = append(appendStamp(b, r.Stamp), '}')
	return nil
}

// emptyDoc is the length of a document without members.
const emptyDoc = 5

// none is the system function of resources without members of their own.
func none(_ *exchange, dst []byte, _ *catalog.Resource) ([]byte, error) { return dst, nil }

// required is the error of a body that lacks members.
func required(missing ...string) error {
	return fault.New(fault.Invalid, "The input content is invalid because the required properties - '%s; ' - are missing.", strings.Join(missing, "; "))
}
