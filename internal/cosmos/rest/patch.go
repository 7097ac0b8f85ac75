package rest

import (
	"context"
	"errors"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxPatchOperations is the service's limit.
const maxPatchOperations = 10

var (
	errPatchForm = fault.New(fault.Invalid, "The request payload is invalid. A patch is {\"operations\":[…]} with an "+
		"optional \"condition\", or the array alone.")
	errPatchMany = fault.New(fault.Invalid,
		"The number of patch operations can't exceed '%d'. Send several patches, or replace the item.",
		maxPatchOperations)
	errPatchNone = fault.New(fault.Invalid, "The patch has no operations. Give it at least one.")
)

// patchItem patches the item named by the path.
func patchItem(e *exchange) (status int, err error) {
	v, partition, text, err := e.enterWrite()
	if err != nil {
		return 0, err
	}
	key, err := e.itemKey(v, partition)
	if err != nil {
		return 0, err
	}
	body, err := parseValue(text)
	if err != nil {
		return 0, err
	}
	p, err := parsePatch(e.Context(), v, body)
	if err != nil {
		return 0, err
	}
	return e.writeItem(v, store.Op{
		Verb: store.Patch, Key: key, Edit: p.edit,
		IfMatch: e.ifMatch(), IfNoneMatch: e.ifNoneMatch(),
	})
}

// A patch is a list of edits of one item, which are applied in order, all or none.
type patch struct {
	condition *condition // nil if the patch is unconditional
	edits     []edit
}

// An edit is one operation of a patch.
type edit struct {
	do       func(d doc.Doc, e *edit) (doc.Doc, error)
	at, from doc.Pointer // from is for move only
	value    doc.Value
}

var editFuncs = map[string]func(d doc.Doc, e *edit) (doc.Doc, error){
	"add":     func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Add(d, e.at, e.value) },
	"set":     func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Set(d, e.at, e.value) },
	"replace": func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Replace(d, e.at, e.value) },
	"remove":  func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Remove(d, e.at) },
	"incr":    func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Increment(d, e.at, e.value) },
	"move":    func(d doc.Doc, e *edit) (doc.Doc, error) { return doc.Move(d, e.from, e.at) },
}

// parsePatch parses the body of a patch. It rejects edits of the container's partition key.
func parsePatch(ctx context.Context, v catalog.View, body doc.Value) (*patch, error) {
	p, list := new(patch), body
	if fields, ok := doc.AsDoc(body); ok {
		var err error
		if p.condition, err = parseCondition(ctx, v, doc.Lookup(fields, "condition")); err != nil {
			return nil, err
		}
		list = doc.Lookup(fields, "operations")
	}
	if !doc.IsArray(list) {
		return nil, errPatchForm
	}
	for operation := range doc.Elements(list) {
		if len(p.edits) == maxPatchOperations {
			return nil, errPatchMany
		}
		e, err := parseEdit(v.State, operation)
		if err != nil {
			return nil, inOperation(len(p.edits), err)
		}
		p.edits = append(p.edits, e)
	}
	if len(p.edits) == 0 {
		return nil, errPatchNone
	}
	return p, nil
}

// inOperation adds the number of the operation to an error, as the service does.
func inOperation(index int, err error) error {
	message := fault.Message(err)
	if e, ok := errors.AsType[*doc.Error](err); ok {
		message = e.Message
	}
	return fault.New(fault.Invalid, "For Operation(%d): %s", index+1, message)
}

func parseEdit(st *catalog.State, v doc.Value) (e edit, err error) {
	fields, ok := doc.AsDoc(v)
	if !ok {
		return e, fault.New(fault.Invalid, "An operation is an object with op, path and value.")
	}
	name, _ := doc.AsString(doc.Lookup(fields, "op"))
	if e.do = editFuncs[name]; e.do == nil {
		return e, fault.New(fault.Invalid, "The op '%s' is not one of add, set, replace, remove, incr and move.",
			clip(name))
	}
	e.value = doc.Lookup(fields, "value")
	if e.at, err = parseEditPath(st, fields, "path"); err != nil || name != "move" {
		return e, err
	}
	e.from, err = parseEditPath(st, fields, "from")
	return e, err
}

// parseEditPath parses a path of an operation and checks that it may be changed.
func parseEditPath(st *catalog.State, fields doc.Doc, member string) (doc.Pointer, error) {
	text, ok := doc.AsString(doc.Lookup(fields, member))
	if !ok {
		return nil, fault.New(fault.Invalid, "The %s is missing or not a string.", member)
	}
	at, err := doc.ParsePointer(text)
	if err != nil {
		return nil, err
	}
	switch {
	case at[0] == "id":
		return nil, fault.New(fault.Invalid, "The path '%s' is the item's id, which cannot be changed.", clip(text))
	case slices.Contains(systemMembers, at[0]):
		return nil, fault.New(fault.Invalid, "The path '%s' is a system property, which cannot be changed.", clip(text))
	}
	for _, path := range st.PartitionPaths() {
		if withinPath(at, path) {
			return nil, fault.New(fault.Invalid,
				"The path '%s' belongs to the partition key, which cannot be changed.", clip(text))
		}
	}
	return at, nil
}

// withinPath reports whether at is the path of a partition key value or below it. A parent of the key may be edited as
// long as the key keeps its value, which the store checks.
func withinPath(at doc.Pointer, path doc.Path) bool {
	if len(at) < len(path) {
		return false
	}
	for i, token := range path {
		if at[i] != token.Name {
			return false
		}
	}
	return true
}

// edit makes the new body of an item.
func (p *patch) edit(d access.Document) (body doc.Doc, err error) {
	if p.condition != nil {
		holds, err := p.condition.holds(&d)
		if err != nil {
			return nil, err
		}
		if !holds {
			return nil, errPatchCondition
		}
	}
	body = d.Body
	for i := range p.edits {
		if body, err = p.edits[i].do(body, &p.edits[i]); err != nil {
			return nil, inOperation(i, err)
		}
	}
	if tooLong(body) {
		return nil, errTooLarge
	}
	return body, nil
}

var errPatchCondition = fault.New(fault.PatchCondition,
	"One of the specified pre-condition is not met. The item does not fulfil the condition of the patch.")

// safeLength is a size of BSON whose JSON cannot exceed doc.MaxBytes. The worst case is control characters, which
// take six bytes of JSON each.
const safeLength = doc.MaxBytes / 8

// tooLong reports whether an item has become larger than a client could have sent.
func tooLong(body doc.Doc) bool {
	return len(body) > safeLength && len(doc.AppendJSON(nil, body)) > doc.MaxBytes
}
