package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// releaseProgram takes the pages of the program's own file out of the memory of the process. They stay in the system's
// cache, and come back when the process uses them. Most were needed by the start alone.
func releaseProgram() error {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer maps.Close()
	mappings, err := unchangedMappings(maps, name)
	for _, m := range mappings {
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
		if errno != 0 {
			err = errors.Join(err, errno)
		}
	}
	return err
}

// A mapping is the addresses at which a part of a file is in memory.
type mapping struct{ from, to uintptr }

// unchangedMappings reads the mappings of a file from maps, in the form of /proc/self/smaps. It leaves out those that
// can be written, and those that were: relocated pages, whose content is not in the file (proc(5), Anonymous).
func unchangedMappings(maps io.Reader, name string) (found []mapping, err error) {
	var m mapping
	var mode string
	ours := false
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		line := lines.Text()
		field, value, _ := strings.Cut(line, ":")
		switch {
		case strings.ContainsRune(field, ' '): // from-to mode offset device inode name
			if _, err := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &mode); err != nil {
				return nil, err
			}
			before := ours
			ours = strings.HasSuffix(line, " "+name)
			if before && !ours {
				return found, nil // the mappings of a program are next to each other
			}
		case ours && field == "Anonymous" && strings.Fields(value)[0] == "0" && strings.HasPrefix(mode, "r-"):
			found = append(found, m)
		}
	}
	return found, lines.Err()
}
