package terminal

import (
	"strconv"
)

// Count writes a number with commas between thousands: 1,234,567.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Bytes writes a size in binary units with at most three digits and one decimal: 512 B, 1.5 KiB, 20 MiB.
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 && n > -1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n)/(1<<10), 0
	for ; (size >= 1023.95 || size <= -1023.95) && unit < len(units)-1; unit++ {
		size /= 1 << 10
	}
	decimals := 1
	if size >= 99.95 || size <= -99.95 || size == float64(int64(size)) {
		decimals = 0
	}
	return strconv.FormatFloat(size, 'f', decimals, 64) + " " + units[unit:unit+1] + "iB"
}
