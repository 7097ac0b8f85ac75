package command

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// The fail points by which test suites of drivers make commands fail.
// https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point
const (
	failCommand                    = iota // fails instead of the command
	failGetMoreAfterCursorCheckout        // fails a getMore that has its cursor, and closes the cursor
	maxTimeAlwaysTimeOut                  // fails every request with maxTimeMS
	maxTimeNeverTimeOut                   // ignores maxTimeMS
	onPrimaryTransactionalWrite           // fails a retryable write, before or after it is done
)

var failPointNames = []string{
	failCommand: "failCommand", failGetMoreAfterCursorCheckout: "failGetMoreAfterCursorCheckout",
	maxTimeAlwaysTimeOut: "maxTimeAlwaysTimeOut", maxTimeNeverTimeOut: "maxTimeNeverTimeOut",
	onPrimaryTransactionalWrite: "onPrimaryTransactionalWrite",
}

// failing are the fail points of a server, indexed by the constants above.
type failing struct {
	at [5]atomic.Pointer[failPoint] // nil if it is off

	mu      sync.Mutex
	entered [5]int64 // how often it has been hit since the start
}

// A failPoint says which commands fail, how often, and how.
type failPoint struct {
	times  int64   // how often it still fails; -1 for always
	skip   int64   // how many commands still pass first
	chance float64 // that a command fails, from 0 to 1

	commands  []string // nil for all that the kind of fail point is about
	appName   string   // "" for all
	namespace string   // "" for all

	code   code.Code // 0 for none
	extra  doc.Doc   // further members of the error
	hangUp bool
	block  time.Duration
	forced
}

// forced is what a fail point changes in the answer of a command that runs.
type forced struct {
	concern  doc.Doc // writeConcernError, nil for none
	labels   []string
	labelled bool // labels are in place of the usual ones
}

// maxBlock bounds blockTimeMS.
const maxBlock = 10 * time.Minute

func configureFailPoint(r *request, a *answer) error {
	name, ok := doc.AsString(r.arg)
	if !ok {
		return r.wrongType("configureFailPoint", r.arg, "string")
	}
	kind := slices.Index(failPointNames, name)
	if kind < 0 {
		return code.New(code.FailPointSetFailed, "%.200s not found", name)
	}
	p := &failPoint{times: -1, chance: 1}
	on, err := p.readMode(doc.Lookup(r.body, "mode"))
	if err == nil && on {
		err = p.readData(kind, bytes.Clone(r.document("data")))
	}
	if err != nil || r.err != nil {
		return cmp.Or(r.err, err)
	}
	if !on {
		p = nil
	}
	f := &r.s.failing
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[kind].Store(p)
	a.Count("count", f.entered[kind])
	return nil
}

// readMode reads "off", "alwaysOn", {times: n}, {skip: n} or {activationProbability: p}.
func (p *failPoint) readMode(v doc.Value) (on bool, err error) {
	switch s, _ := doc.AsString(v); s {
	case "off":
		return false, nil
	case "alwaysOn":
		return true, nil
	}
	d, _ := doc.AsDoc(v)
	for name, v := range doc.Members(d) {
		n, ok := wholeOf(v)
		switch {
		case !ok || n < 0 || n > 1<<31-1:
			return false, code.New(code.BadValue, "'%.200s' field must be a number that is not negative", name)
		case name == "times":
			p.times = n
		case name == "skip":
			p.skip = n
		case name == "activationProbability":
			if p.chance, _ = doc.AsFloat(v); !(p.chance >= 0 && p.chance <= 1) {
				return false, code.New(code.BadValue,
					"activationProbability must be between 0.0 and 1.0; found %v", p.chance)
			}
		default:
			return false, code.New(code.BadValue,
				"'mode' must be one of 'times', 'skip', 'activationProbability'; found '%.200s'", name)
		}
		return p.times != 0, nil
	}
	return false, code.New(code.BadValue, "'mode' must be a string or a JSON object")
}

// readData reads which commands fail, and how.
func (p *failPoint) readData(kind int, d doc.Doc) error {
	switch kind {
	case failCommand:
		p.commands = []string{}
	case failGetMoreAfterCursorCheckout:
		p.code = code.InternalError
	case onPrimaryTransactionalWrite:
		p.hangUp = true
	}
	for name, v := range doc.Members(d) {
		ok := true
		switch name {
		case "failCommands":
			p.commands, ok = stringsOf(v)
		case "errorCode", "failBeforeCommitExceptionCode":
			var n int64
			n, ok = wholeOf(v)
			p.code = code.Code(n)
		case "closeConnection":
			p.hangUp, ok = truth(v)
		case "blockConnection":
			_, ok = truth(v)
		case "blockTimeMS":
			var n int64
			n, ok = wholeOf(v)
			if on, _ := truth(doc.Lookup(d, "blockConnection")); on {
				p.block = min(max(0, time.Duration(min(n, 1<<40))*time.Millisecond), maxBlock)
			}
		case "errorLabels":
			p.labelled = true
			p.labels, ok = stringsOf(v)
		case "writeConcernError":
			p.concern, ok = doc.AsDoc(v)
		case "errorExtraInfo":
			p.extra, ok = doc.AsDoc(v)
		case "appName":
			p.appName, ok = doc.AsString(v)
		case "namespace":
			p.namespace, ok = doc.AsString(v)
		case "failInternalCommands", "failLocalClients", "threadName", "failAllCommands":
			// These distinguish commands that mayfly does not have.
		}
		if !ok {
			return code.New(code.TypeMismatch, "BSON field 'data.%s' is the wrong type '%s'", name, code.TypeName(v))
		}
	}
	return nil
}

func stringsOf(v doc.Value) (list []string, ok bool) {
	if v.Type != bsoncore.TypeArray {
		return nil, false
	}
	list = []string{} // not nil, which means all
	for element := range doc.Elements(v) {
		s, ok := doc.AsString(element)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// hitFailPoint gives a fail point if it is on and the request hits it, nil otherwise.
func hitFailPoint(r *request, kind int) *failPoint {
	f := &r.s.failing
	if p := f.at[kind].Load(); p != nil && p.matches(r) && f.enter(kind, p) {
		return p
	}
	return nil
}

// applyFailCommand makes the request fail if it hits failCommand.
func applyFailCommand(r *request) error {
	p := hitFailPoint(r, failCommand)
	if p == nil {
		return nil
	}
	if p.block > 0 {
		if err := clock.Pause(r.Context, p.block); err != nil {
			return err
		}
	}
	if p.labelled || p.concern != nil {
		r.forced = &p.forced
	}
	switch {
	case p.hangUp:
		return session.ErrHangUp
	case p.code == 0:
		return nil
	}
	e := code.New(p.code, "Failing command via 'failCommand' failpoint")
	e.Info = p.extra
	return e
}

// matches reports whether the fail point is about a request.
func (p *failPoint) matches(r *request) bool {
	if r.Name == "configureFailPoint" || p.appName != "" && p.appName != appNameOf(r) {
		return false
	}
	if p.namespace != "" {
		if name, _ := doc.AsString(r.arg); r.db+"."+name != p.namespace {
			return false
		}
	}
	return p.commands == nil || slices.ContainsFunc(p.commands, func(name string) bool {
		return name == r.Name || aliases[name] == r.Name
	})
}

// enter counts one command that the fail point is about. It reports false if the command passes.
func (f *failing) enter(kind int, p *failPoint) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.at[kind].Load() != p:
		return false
	case p.skip > 0:
		p.skip--
		return false
	case p.chance < 1 && rand.Float64() >= p.chance:
		return false
	case p.times > 0:
		if p.times--; p.times == 0 {
			f.at[kind].Store(nil)
		}
	}
	f.entered[kind]++
	return true
}

// appNameOf is the name of the client's application. The first hello brings it itself.
func appNameOf(r *request) string {
	if r.command.greets && r.c.client.document == nil {
		d, _ := doc.AsDoc(r.get("client"))
		name, _ := doc.AsString(doc.Lookup(docMember(d, "application"), "name"))
		return name
	}
	return r.c.client.appName
}

// BeforeWrite asks onPrimaryTransactionalWrite before a retryable write is done.
// mongodb/specifications: source/retryable-writes/tests/README.md
func (r *request) BeforeWrite() error {
	p := r.s.failing.at[onPrimaryTransactionalWrite].Load()
	if p == nil || p.code == 0 || !isRetryable(r) || hitFailPoint(r, onPrimaryTransactionalWrite) == nil {
		return nil
	}
	if p.hangUp {
		return session.ErrHangUp
	}
	return code.New(p.code, "Failing write for %s:%d due to failpoint. The write must not be reflected.", r.Session.Shown(), r.txnNumber)
}

// AfterWrite asks it when the write is done: the client may not get its answer.
func (r *request) AfterWrite() {
	p := r.s.failing.at[onPrimaryTransactionalWrite].Load()
	if p != nil && p.code == 0 && isRetryable(r) && hitFailPoint(r, onPrimaryTransactionalWrite) != nil {
		r.severed = p.hangUp
	}
}
