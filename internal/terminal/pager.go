package terminal

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Page calls show with a writer. If the screen is a terminal, that writer is a pager: the program that pager names, the
// value of the environment variable PAGER, or less. The pager reads as a person scrolls, and show waits for it, so that
// pages of an answer are requested when somebody looks at them. When the person leaves the pager, show's next write
// fails, and Page returns nil.
func (s Screen) Page(pager string, show func(Screen) error) error {
	cmd := s.pager(pager)
	if cmd == nil {
		return show(s)
	}
	into, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return show(s)
	}
	err = show(Screen{into, s.width})
	if Left(err) {
		err = nil
	}
	return errors.Join(err, into.Close(), cmd.Wait())
}

// Left reports whether an error means that nobody reads any more: a person has left the pager.
func Left(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// pager is the command of the pager, nil without one.
func (s Screen) pager(chosen string) *exec.Cmd {
	if !Is(s.Out) || chosen == "cat" {
		return nil
	}
	words := strings.Fields(chosen)
	if len(words) == 0 {
		words = []string{"less"}
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Stdout, cmd.Stderr = s.Out, s.Out
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRSX") // as git does: end at once if the text fits, keep it on the screen
	}
	return cmd
}
