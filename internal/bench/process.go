package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Process is a server on this machine whose processor time is measured.
type Process struct{ ID int }

// tick is the unit of processor time in /proc: USER_HZ is 100 on every architecture of Linux that Go supports.
const tick = 10 * time.Millisecond

// processorTime is the time that the process has used of all processors, in user and system mode: see proc_pid_stat(5).
func (p *Process) processorTime() (time.Duration, error) {
	if p == nil {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.ID))
	if errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("process %d does not exist, or this system has no /proc", p.ID)
	}
	if err != nil {
		return 0, err
	}
	// The second field is the name of the program in parentheses, which may contain spaces.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("process %d: /proc has %d fields", p.ID, len(fields))
	}
	var ticks int64
	for _, field := range fields[user : system+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
