package node

import "testing"

// The list of operations shows how far a load is, so it does not wait for its end.
func TestOperationsDuringALoad(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0"})
	n.gate.shut()
	defer n.gate.open()
	if list := n.builds(); list != nil {
		t.Errorf("%+v", list)
	}
}
