package balancer

import (
	"bufio"
	"fmt"
	"net"
	"testing"
)

// named answers each line with its name, until it is closed.
func named(t *testing.T, name, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				lines := bufio.NewReader(c)
				for {
					if _, err := lines.ReadString('\n'); err != nil {
						return
					}
					fmt.Fprintln(c, name)
				}
			}()
		}
	}()
	return l
}

func ask(t *testing.T, address string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintln(c, "who")
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "nobody"
	}
	return line[:len(line)-1]
}

// Connections go in turn to whoever accepts, to nobody when nobody does, and
// again to whoever comes back.
func TestTurns(t *testing.T) {
	one, two := named(t, "one", "127.0.0.1:0"), named(t, "two", "127.0.0.1:0")
	b, err := New(one.Addr().String(), two.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	turns := func(n int) map[string]int {
		got := map[string]int{}
		for range n {
			got[ask(t, b.Address)]++
		}
		return got
	}
	if got := turns(10); got["one"] != 5 || got["two"] != 5 {
		t.Errorf("both alive: %v", got)
	}
	one.Close()
	if got := turns(10); got["two"] != 10 {
		t.Errorf("one dead: %v", got)
	}
	two.Close()
	if got := turns(2); got["nobody"] != 2 {
		t.Errorf("both dead: %v", got)
	}
	defer named(t, "one", one.Addr().String()).Close()
	if got := turns(10); got["one"] != 10 {
		t.Errorf("one is back: %v", got)
	}
}
