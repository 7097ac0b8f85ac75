package command_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// later is the time some seconds after the beginning, as a cluster time.
func later(seconds int) bson.Timestamp {
	return bson.Timestamp{T: uint32(start.Unix()) + uint32(seconds), I: 1}
}

// after is a find that sees all up to a time, and perhaps tells the server one.
func after(at any, told any, more ...bson.E) bson.D {
	cmd := append(bson.D{{Key: "find", Value: "c"}, {Key: "readConcern", Value: eq("afterClusterTime", at)}}, more...)
	if told != nil {
		cmd = append(cmd, bson.E{Key: "$clusterTime", Value: pairs("clusterTime", told, "signature", bson.D{})})
	}
	return cmd
}

// A read waits for a time of the future that the client has from elsewhere, and no longer than it may.
func TestAfterClusterTime(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	wants(t, "insert", m.with(insertOf("c", eq("_id", 1))), "n 1")
	level := func(name string) bson.D {
		return bson.D{{Key: "level", Value: name}, {Key: "afterClusterTime", Value: later(0)}}
	}
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32
		text string
	}{
		{"the past", after(bson.Timestamp{T: 1, I: 1}, nil), 0, ""},
		{"ahead of all", after(later(60), nil), 72, "must not be greater than the current clusterTime. Requested clusterTime: Timestamp(1893456060, 1); current clusterTime: "},
		{"ahead of what is told", after(later(60), later(30)), 72, "must not be greater than the current clusterTime"},
		{"null", after(bson.Timestamp{}, nil), 72, "cannot be a null timestamp"},
		{"far ahead", after(later(2*365*24*3600), later(2*365*24*3600)), 205, "too far"},
		{"no time to wait", after(later(60), later(60), bson.E{Key: "maxTimeMS", Value: 5}), 50, ""},
		{"another type", after(1, nil), 14, "afterClusterTime"},
		{"available", pairs("find", "c", "readConcern", level("available")),
			72, "only if level is equal to majority, local, or snapshot"},
		{"linearizable", pairs("find", "c", "readConcern", level("linearizable")),
			72, "only if level is equal to majority, local, or snapshot"},
		{"majority", bson.D{{Key: "find", Value: "c"}, {Key: "readConcern", Value: level("majority")}}, 0, ""},
	} {
		answer := m.with(c.cmd)
		text, _ := answer.Lookup("errmsg").StringValueOK()
		if codeIn(answer) != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %s, want code %d, %q", c.name, answer, c.code, c.text)
		}
	}
	_, err := newServer(t, alone).run(after(later(0), nil))
	fails(t, err, 20, "Cannot specify afterClusterTime readConcern without replication enabled")

	// The write that takes time there ends the wait, and is seen.
	p := d.peer()
	p.sent++
	p.send(appendMsg(p, append(after(later(5), later(5)), bson.E{Key: "$db", Value: "test"})))
	for d.server.Waiting() == 0 {
		wants(t, "ping", m.with(eq("ping", 1)), "ok")
	}
	d.pass(6 * time.Second)
	wants(t, "insert", m.with(insertOf("c", eq("_id", 2))), "n 1")
	wants(t, "the read", bson.Raw(p.receive(2013)[5:]), `[{"_id":1},{"_id":2}]`)

	// So does whoever kills it.
	p = d.peer()
	p.sent++
	p.send(appendMsg(p, append(after(later(60), later(60)), bson.E{Key: "$db", Value: "test"})))
	for d.server.Waiting() == 0 {
		wants(t, "ping", m.with(eq("ping", 1)), "ok")
	}
	var running struct{ Inprog []struct{ Opid int32 } }
	finds := document(t, `{currentOp: 1, command.find: 'c'}`)
	must(t, d.Database("admin").RunCommand(t.Context(), finds).Decode(&running))
	for _, op := range running.Inprog {
		_, err := d.admin(bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: op.Opid}})
		must(t, err)
	}
	wants(t, "killed", bson.Raw(p.receive(2013)[5:]), "code 11601")
}

// A pipeline that writes cannot be linearizable.
// mongodb/specifications: source/crud/tests/unified/aggregate-out-readConcern.yml
func TestLinearizableOut(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	for stage, want := range map[string]int32{"$out": 72, "$merge": 72, "$match": 0} {
		arg := any("d")
		if stage == "$match" {
			arg = bson.D{}
		}
		for level, want := range map[string]int32{"linearizable": want, "majority": 0, "local": 0, "available": 0} {
			_, err := d.run(with(eqAggregate("c", eq(stage, arg)), eq("readConcern", eq("level", level))))
			failsWith(t, stage+" "+level, err, want)
			if want != 0 {
				fails(t, err, want, stage+" cannot be used with a 'linearizable' read concern level")
			}
		}
	}
}
