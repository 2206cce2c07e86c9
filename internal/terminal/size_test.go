package terminal

import "testing"

func TestSizesAreInTheLargestUnitThatThereIsOneOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 98_816: "96.5 KiB", 5 << 20: "5.0 MiB", 3 << 29: "1.5 GiB", 7 << 50: "7168.0 TiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
}
