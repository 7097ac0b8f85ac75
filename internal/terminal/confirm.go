package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Reasons why a question has no positive answer.
var (
	ErrNoTerminal = errors.New("there is no terminal to ask at: give --yes to go ahead")
	ErrDeclined   = errors.New("nothing was changed, because the answer was not yes")
)

// longestAnswer is what is read of a person's answer.
const longestAnswer = 1 << 10

// Confirm asks a question at a terminal and returns nil if the answer is y or yes. It fails with ErrNoTerminal if in is
// no terminal, and with ErrDeclined for any other answer and for an interrupt, which ends no read of a terminal.
func Confirm(in io.Reader, out io.Writer, question string) error {
	if !Is(in) {
		return ErrNoTerminal
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(out, "%s [y/N] ", question)
	return await(ctx, in, out)
}

// await waits for the answer until ctx ends.
func await(ctx context.Context, in io.Reader, out io.Writer) error {
	answered := make(chan error, 1)
	go func() { answered <- answer(in) }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		fmt.Fprintln(out)
		return ErrDeclined
	}
}

func answer(in io.Reader) error {
	line, err := bufio.NewReader(io.LimitReader(in, longestAnswer)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return ErrDeclined
}
