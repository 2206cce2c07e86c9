// Command hello is as little as can be released.
package main

import (
	"fmt"
	"runtime"
)

func main() {
	_, path, _, _ := runtime.Caller(0) // which would tell where it was built
	fmt.Println("hello from", path)
}
