package admin

import (
	"strconv"
	"time"
)

// How the page writes numbers; its script does it in the same way.

// count writes a number with its thousands apart.
func count(n any) string {
	var digits string
	switch n := n.(type) {
	case int:
		digits = strconv.Itoa(n)
	case int64:
		digits = strconv.FormatInt(n, 10)
	}
	first := 0
	if len(digits) > 0 && digits[0] == '-' {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// rate writes how many come in a second.
func rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0/s"
	case perSecond < 9.95:
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return count(int64(perSecond+0.5)) + "/s"
}

// share returns which part of width n is of all.
func share(n, all, width int) int {
	if all <= 0 {
		return 0
	}
	return min(n, all) * width / all
}

func shortMilliseconds(ms float64) string {
	switch {
	case ms == 0:
		return "–"
	case ms < 1:
		return strconv.FormatFloat(ms*1000, 'f', 0, 64) + " µs"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 10_000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
}

// shortDuration writes seconds as a person would say them.
func shortDuration(seconds float64) string {
	d := time.Duration(seconds) * time.Second
	if d < 24*time.Hour {
		return d.String()
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d " + (d % (24 * time.Hour)).Truncate(time.Minute).String()
}

// refused returns why the configuration as it is now is not what runs.
func refused(f *FailedReload) string {
	return "The last reload failed, and everything goes on as before:\n" + f.Error
}
