package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A namedKind is one kind of small named resource: scripts, users, permissions. Its methods are the handlers of their
// routes.
type namedKind struct {
	kind catalog.ResourceKind
	feed string // member of a feed that holds the list

	// owner finds the owner of the path's resources. It fails with fault.OwnerNotFound.
	owner func(e *exchange) (ownerLinks, error)

	// content checks a body and returns the part that is stored, without the id. old is the resource that it
	// replaces, nil for a new one.
	content func(e *exchange, of ownerLinks, d doc.Doc, old *catalog.Resource) (doc.Doc, error)

	// system renders the system properties that only this kind has.
	system func(e *exchange, dst []byte, r *catalog.Resource) ([]byte, error)

	rid func(of ownerLinks, r *catalog.Resource) rid
}

// An ownerLinks is the owner of named resources, and the links to it and to them.
type ownerLinks struct {
	owner   catalog.Owner
	rid     rid
	links   []link
	segment string
}

func resourceVersion(r *catalog.Resource) access.Version {
	return access.Version{Sequence: r.Sequence, Stamp: r.Stamp}
}

func (n *namedKind) list(e *exchange) (int, error) {
	of, err := n.owner(e)
	if err != nil {
		return 0, err
	}
	return answerFeed(e, of.rid, n.feed, e.api.catalog.Resources(n.kind, of.owner), resourceNumber,
		func(r *catalog.Resource) error { return n.append(e, of, r) })
}

func resourceNumber(r *catalog.Resource) uint64 { return r.Number }

func (n *namedKind) create(e *exchange) (int, error) {
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
		if old, err := e.api.catalog.Resource(n.kind, of.owner, name); err == nil {
			return n.put(e, of, d, old)
		}
	}
	content, err := n.content(e, of, d, nil)
	if err != nil {
		return 0, err
	}
	r, err := e.api.catalog.CreateResource(e.audited(), e.now, n.kind, of.owner, name, content)
	if err != nil {
		return 0, err
	}
	e.charge(createCharge(content))
	return n.answer(e, of, r, http.StatusCreated)
}

func (n *namedKind) read(e *exchange) (int, error) {
	of, r, err := n.find(e)
	if err != nil {
		return 0, err
	}
	return n.answer(e, of, r, http.StatusOK)
}

func (n *namedKind) replace(e *exchange) (int, error) {
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

// put replaces old, possibly under a new name.
func (n *namedKind) put(e *exchange, of ownerLinks, d doc.Doc, old *catalog.Resource) (int, error) {
	name, err := nameOf(d)
	if err != nil {
		return 0, err
	}
	if err := e.checkConditions(resourceVersion(old)); err != nil {
		return 0, err
	}
	content, err := n.content(e, of, d, old)
	if err != nil {
		return 0, err
	}
	r, err := e.api.catalog.ReplaceResource(e.audited(), e.now, old, name, content)
	if err != nil {
		return 0, e.conflictIfUnconditional(err)
	}
	e.charge(replaceCharge(content))
	return n.answer(e, of, r, http.StatusOK)
}

func (n *namedKind) delete(e *exchange) (int, error) {
	_, old, err := n.find(e)
	if err != nil {
		return 0, err
	}
	if err := e.api.catalog.DeleteResource(e.audited(), old); err != nil {
		return 0, e.conflictIfUnconditional(err)
	}
	e.charge(deleteCharge(old.Body))
	return http.StatusNoContent, nil
}

// conflictIfUnconditional is the error of a change that lost against a concurrent one. A request without a condition
// cannot fail a precondition, so it gets a conflict, which clients retry.
func (e *exchange) conflictIfUnconditional(err error) error {
	if fault.KindOf(err) == fault.Precondition && e.ifMatch() == nil {
		return fault.Wrap(fault.Conflict, err,
			"The resource was changed by another request at the same time. Try again.")
	}
	return err
}

// find finds the resource of the path by name, or else by RID, and checks the request's conditions.
func (n *namedKind) find(e *exchange) (ownerLinks, *catalog.Resource, error) {
	of, err := n.owner(e)
	if err != nil {
		return of, nil, err
	}
	r, err := e.api.catalog.Resource(n.kind, of.owner, e.name)
	if err != nil {
		if r = n.byRID(e, of); r == nil {
			return of, nil, errMissing
		}
	}
	return of, r, e.checkConditions(resourceVersion(r))
}

func (n *namedKind) byRID(e *exchange, of ownerLinks) *catalog.Resource {
	id, ok := parseRID(e.name)
	if !ok {
		return nil
	}
	for _, r := range e.api.catalog.Resources(n.kind, of.owner) {
		if n.rid(of, r) == id {
			return r
		}
	}
	return nil
}

func (n *namedKind) answer(e *exchange, of ownerLinks, r *catalog.Resource, status int) (int, error) {
	e.etag(resourceVersion(r))
	return status, n.append(e, of, r)
}

// append renders {id, the resource's own members, system properties}.
func (n *namedKind) append(e *exchange, of ownerLinks, r *catalog.Resource) (err error) {
	id := n.rid(of, r)
	b := appendText(e.reply, "id", r.Name)
	b[len(e.reply)] = '{' // in the place of the first comma
	if !doc.IsEmpty(r.Body) {
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

// none is the system function of resources without members of their own.
func none(_ *exchange, dst []byte, _ *catalog.Resource) ([]byte, error) { return dst, nil }

// required is the error of a body that lacks members.
func required(missing ...string) error {
	return fault.New(fault.Invalid,
		"The input content is invalid because the required properties - '%s; ' - are missing.", strings.Join(missing,
			"; "))
}
