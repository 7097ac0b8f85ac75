package command

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func hostInfo(r *request, a *answer) error {
	host, _ := os.Hostname()
	memory := memoryMiB("/proc/meminfo")
	a.object("system")
	a.date("currentTime", r.at.UnixMilli())
	a.string("hostname", host)
	a.int32("cpuAddrSize", strconv.IntSize)
	a.int64("memSizeMB", memory)
	a.int64("memLimitMB", memory)
	a.int32("numCores", runtime.NumCPU())
	a.string("cpuArch", cpuArch())
	a.bool("numaEnabled", false)
	a.close()
	a.object("os")
	a.string("type", strings.ToUpper(runtime.GOOS[:1])+runtime.GOOS[1:])
	a.string("name", runtime.GOOS)
	a.string("version", "")
	a.close()
	a.object("extra")
	a.close()
	return nil
}

// memoryMiB reads the memory of the machine from a file like /proc/meminfo, 0 if there is none.
func memoryMiB(file string) int64 {
	text, _ := os.ReadFile(file)
	_, rest, _ := bytes.Cut(text, []byte("MemTotal:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kib, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return kib >> 10
}

// cpuArch is MongoDB's name of the processor.
func cpuArch() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}
