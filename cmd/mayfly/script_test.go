package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayflydb/mayfly/internal/remote"
)

// TestScripts runs the stories of testdata/script on the real binary. In addition to the commands of testscript they
// have three:
//
//	serve [flags]             starts a mayfly for the rest of the script, in memory unless --data says otherwise, with
//	                          a virtual clock
//	fill DB/CONTAINER N ITEM  writes N items; %d in ITEM is the number of each, from 0
//	exit CODE mayfly …        runs the program, which must end with this code
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("MAYFLY_ADMIN", "127.0.0.1:1") // nobody answers there
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serveInScript, "fill": fillInScript, "exit": exitInScript,
		},
	})
}

// forStory are flags of a mayfly for a story, in memory unless more name a data folder.
func forStory(more []string) []string {
	if !slices.ContainsFunc(more, func(flag string) bool { return strings.HasPrefix(flag, "--data") }) {
		more = append(more, "--memory")
	}
	return append([]string{"serve", "--nosql=127.0.0.1:0", "--mongo=127.0.0.1:0",
		"--admin=127.0.0.1:0", "--clock=virtual=2026-03-01T12:00:00Z"}, more...)
}

var startLine = regexp.MustCompile(`(?m)^  (NoSQL|MongoDB|Admin) +(\S+)$`)

// start starts the program in a folder and returns when it greets. stop ends it.
func start(dir string, args []string) (addresses map[string]string, stop func() error, err error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	limit := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	stop = func() error {
		defer limit.Stop()
		cmd.Process.Signal(os.Interrupt)
		return cmd.Wait()
	}
	greeting := ""
	for lines := bufio.NewReader(out); !strings.Contains(greeting, "Ctrl-C"); {
		line, err := lines.ReadString('\n')
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("mayfly ended before it was ready: %s%s", greeting, log.Bytes())
		}
		greeting += line
	}
	addresses = map[string]string{}
	for _, m := range startLine.FindAllStringSubmatch(greeting, -1) {
		addresses[m[1]] = m[2]
	}
	return addresses, stop, nil
}

func serveInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve does not fail")
	}
	addresses, stop, err := start(ts.MkAbs("."), forStory(args))
	ts.Check(err)
	ts.Defer(func() {
		if err := stop(); err != nil {
			ts.Logf("mayfly ended with %v", err)
		}
	})
	ts.Setenv("MAYFLY_ADMIN", strings.TrimSuffix(strings.TrimPrefix(addresses["Admin"], "http://"), "/"))
	ts.Setenv("NOSQL", addresses["NoSQL"])
	ts.Setenv("MONGO", addresses["MongoDB"])
}

func fillInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fill DB/CONTAINER N ITEM")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	db, container, _ := strings.Cut(args[0], "/")
	path := "http://" + ts.Getenv("MAYFLY_ADMIN") + remote.Path("databases", db, "containers", container, "items")
	for i := range n {
		answer, err := http.Post(path, "application/json",
			strings.NewReader(strings.ReplaceAll(args[2], "%d", strconv.Itoa(i))))
		ts.Check(err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusCreated {
			ts.Fatalf("item %d: %s", i, answer.Status)
		}
	}
}

func exitInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE mayfly …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			code = failed.ExitCode()
		} else {
			ts.Fatalf("%v", err)
		}
	}
	if code != want {
		ts.Fatalf("%s: exit %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}
