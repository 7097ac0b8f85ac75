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
	a.Object("system")
	a.Date("currentTime", r.At.UnixMilli())
	a.String("hostname", host)
	a.Int32("cpuAddrSize", strconv.IntSize)
	a.Int64("memSizeMB", memory)
	a.Int64("memLimitMB", memory)
	a.Int32("numCores", runtime.NumCPU())
	a.String("cpuArch", cpuArch())
	a.Bool("numaEnabled", false)
	a.Close()
	a.Object("os")
	a.String("type", strings.ToUpper(runtime.GOOS[:1])+runtime.GOOS[1:])
	a.String("name", runtime.GOOS)
	a.String("version", "")
	a.Close()
	a.Object("extra")
	a.Close()
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
