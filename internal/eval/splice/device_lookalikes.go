package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents with boards, phones and radios.

func deviceLookalikes() []kind {
	return []kind{
		{name: "boards_flashed", build: boardsFlashed},
		{name: "current_falls", build: currentFalls},
		{name: "flash_overflow_shrinks", build: flashOverflowShrinks},
		{name: "onboarding_tapped_through", build: onboardingTappedThrough},
		{name: "beacons_paired", build: beaconsPaired},
	}
}

// boardsFlashed writes the same image to board after board and registers each by its address.
func boardsFlashed(p *generator) (entries []entry, _ int) {
	run, size, first := p.commands(), p.between(700_000, 1_900_000), p.between(100, 900)
	compressed := size * 61 / 100
	vendor := fmt.Sprintf("%02x:%02x:%02x", p.IntN(256)&^1, p.IntN(256), p.IntN(256))
	done := ""
	for k := range p.between(6, 10) {
		port := fmt.Sprintf("/dev/ttyUSB%d", k)
		mac, unit := fmt.Sprintf("%s:%02x:%02x:%02x", vendor, p.IntN(256), p.IntN(256), k*7+p.IntN(7)), fmt.Sprintf("unit %d", first+k)
		command, said := "esptool.py --chip esp32 --port "+port+" -b 460800 write_flash 0x0 build/merged.bin", p.nextItem(done, unit)
		if p.IntN(6) == 0 {
			entries = append(entries, run(command, "esptool.py v4.7.0\nSerial port "+port+"\nConnecting......................................\n\nA fatal error occurred: Failed to connect to ESP32: No serial data received.", 2).after(said))
			said = thought{"It did not answer.", p.pick("I'll reset it and try once more.", "Once more, after a reset.")}
			command = strings.Replace(command, "write_flash", "--before usb_reset write_flash", 1)
		}
		tenths := compressed/4608 + p.between(-3, 9)
		entries = append(entries,
			run(command, fmt.Sprintf("esptool.py v4.7.0\nSerial port %s\nConnecting.....\nChip is ESP32-D0WD-V3 (revision v3.1)\nMAC: %s\nUploading stub...\nRunning stub...\nConfiguring flash size...\nCompressed %d bytes to %d...\nWrote %d bytes (%d compressed) at 0x00000000 in %d.%d seconds...\nHash of data verified.\n\nLeaving...\nHard resetting via RTS pin...", port, mac, size, compressed, size, compressed, tenths/10, tenths%10), 0).after(said),
			run(fmt.Sprintf("./tools/register.py --mac %s --serial %d", mac, first+k), fmt.Sprintf("registered %d", first+k), 0).after(thought{"The hash is verified.", p.pick("Register it.", "Now its entry in the register.", "Add it to the register.")}))
		done = unit
	}
	return entries, 0
}

// currentFalls switches off one part of a board after the other; each measurement shows a lower current.
func currentFalls(p *generator) (entries []entry, _ int) {
	w, board := p.workbench(), p.pick("nrf52840dk/nrf52840", "nucleo_l476rg", "esp32s3_devkitc/esp32s3/procpu")
	current := p.between(9000, 30_000)
	parts := [][3]string{
		{"CONFIG_SERIAL=y", "CONFIG_SERIAL=n", "the serial console"},
		{"CONFIG_ADC=y", "CONFIG_ADC=n", "the ADC"},
		{"CONFIG_LOG=y", "CONFIG_LOG=n", "logging"},
		{"CONFIG_PM_DEVICE=n", "CONFIG_PM_DEVICE=y", "device power management"},
		{"CONFIG_SPI_NOR=y", "CONFIG_SPI_NOR=n", "the external flash"},
		{"CONFIG_BT_MIN_INTERVAL=160", "CONFIG_BT_MIN_INTERVAL=1600", "the advertising interval"},
		{"CONFIG_SENSOR_POLL_MS=100", "CONFIG_SENSOR_POLL_MS=5000", "the polling of the sensor"},
	}
	p.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	measure := func(said thought) {
		entries = append(entries, call("ppk2_measure", object("seconds", 30, "voltage_mv", 3300), object("average_ua", float64(current)/10, "peak_ua", current*p.between(2, 4)+p.IntN(100), "samples", 3_000_000)).after(said))
	}
	measure(thought{next: "First a measurement of the current as it is."})
	for _, part := range parts[:p.between(4, 6)] {
		last := current
		current = current * p.between(35, 80) / 100
		flash, ram := 118_000+4*current/3, 31_000+current/9
		entries = append(entries,
			w.replace("prj.conf", part[0], part[1]).after(thought{fmt.Sprintf("%d µA.", last/10), "Next is " + part[2] + "."}),
			w.shell("west build -b "+board+" && west flash", fmt.Sprintf("[%d/%d] Linking C executable zephyr/zephyr.elf\nMemory region         Used Size  Region Size  %%age Used\n           FLASH:      %d B         1 MB     %.2f%%\n             RAM:       %d B       256 KB     %.2f%%\n-- west flash: using runner jlink\n-- runners.jlink: Flashing file: build/zephyr/zephyr.hex", 39, 39, flash, float64(flash)/10_485.76, ram, float64(ram)/2621.44), 0).after(thought{next: p.pick("Build and flash.", "Flash it.", "")}))
		measure(thought{next: p.pick("Measure again.", "And the current?", "How much does it draw now?")})
	}
	return entries, 0
}

// flashOverflowShrinks leaves one option out after the other. The linker reports that the same region overflows, by fewer bytes each time.
func flashOverflowShrinks(p *generator) (entries []entry, _ int) {
	w, app := p.workbench(), p.word()
	region, over := p.pickInt(128, 256, 512), p.between(30_000, 60_000)
	options := p.shuffled("CONFIG_SHELL", "CONFIG_PRINTF_FLOAT", "CONFIG_ASSERT", "CONFIG_MCUMGR", "CONFIG_NET_IPV6", "CONFIG_FAT_LFN", "CONFIG_LOG_STRINGS", "CONFIG_TLS_DEBUG", "CONFIG_USB_CDC", "CONFIG_CPP_EXCEPTIONS")
	build := "cmake --build build 2>&1 | tail -n 4"
	said := thought{next: "Let me build the firmware."}
	for _, option := range options {
		entries = append(entries,
			w.shell(build, fmt.Sprintf("ld: build/%s.elf section `.text' will not fit in region `FLASH'\nld: region `FLASH' overflowed by %d bytes\ncollect2: error: ld returned 1 exit status\nninja: build stopped: subcommand failed.", app, over), 0).after(said),
			w.replace("sdkconfig.defaults", option+"=y", option+"=n").after(thought{fmt.Sprintf("%d bytes too many.", over), p.pick("I can do without "+option+".", "Next I leave out "+option+".", option+" isn't needed in the release.")}))
		said = thought{next: p.pick("How much is left?", "Build again.", "Does it fit now?")}
		if over -= p.between(2800, 9500); over <= 0 {
			break
		}
	}
	if over > 0 {
		entries = append(entries, w.shell(build, fmt.Sprintf("ld: build/%s.elf section `.text' will not fit in region `FLASH'\nld: region `FLASH' overflowed by %d bytes\ncollect2: error: ld returned 1 exit status\nninja: build stopped: subcommand failed.", app, over), 0).after(said),
			w.replace("CMakeLists.txt", "add_compile_options(-O2)", "add_compile_options(-Os -flto)").after(thought{"Now for the optimisation.", "I'll build for size."}))
	}
	used := region*1024 - p.between(100, 3000)
	return append(entries, w.shell(build, fmt.Sprintf("Memory region         Used Size  Region Size  %%age Used\n           FLASH:  %11d B  %8d KB     %.2f%%\n[100%%] Built target %s", used, region, float64(used)*100/float64(region*1024), app), 0).after(thought{next: "It should fit now."})), 0
}

// onboardingTappedThrough taps the same place of a phone's screen; each tap brings another page of the introduction.
func onboardingTappedThrough(p *generator) (entries []entry, _ int) {
	app, x, y, device := capitalized(p.word()), p.between(480, 600), p.between(2050, 2250), fmt.Sprintf("emulator-55%d4", p.between(5, 8))
	pages := append([]string{"Welcome to " + app}, p.shuffled("Find what you need faster", "Works without a network", "Your data stays on this phone", "Share with your team", "Get notified in time", "Set a daily goal", "Choose your language", "Connect a calendar", "Dark mode")[:p.between(6, 9)]...)
	screen := func(k int) json.RawMessage {
		button := "Next"
		if k == len(pages)-1 {
			button = "Get started"
		}
		return content(fmt.Sprintf("Found these elements on screen: [{\"type\":\"android.widget.TextView\",\"text\":%q,\"coordinates\":{\"x\":84,\"y\":1310,\"width\":912,\"height\":96}},{\"type\":\"android.widget.TextView\",\"text\":\"%d / %d\",\"coordinates\":{\"x\":484,\"y\":1890,\"width\":112,\"height\":48}},{\"type\":\"android.widget.Button\",\"text\":%q,\"coordinates\":{\"x\":%d,\"y\":%d,\"width\":240,\"height\":120}}]", pages[k], k+1, len(pages), button, x-120, y-60))
	}
	list := func(k int, said thought) {
		entries = append(entries, call("mobile_list_elements_on_screen", object("device", device), screen(k)).after(said))
	}
	list(0, thought{next: "Let me see what the app shows at its first start."})
	for k := 1; k < len(pages); k++ {
		entries = append(entries, call("mobile_click_on_screen_at_coordinates", object("device", device, "x", x, "y", y), content(fmt.Sprintf("Clicked on screen at coordinates: %d, %d", x, y))).after(thought{"\"" + pages[k-1] + "\" is there.", p.pick("Tap on Next.", "Next.", "On to the next page.")}))
		list(k, thought{next: p.pick("Which page is it?", "Check the page.", "And the text?", "")})
	}
	return append(entries, call("mobile_click_on_screen_at_coordinates", object("device", device, "x", x, "y", y), content(fmt.Sprintf("Clicked on screen at coordinates: %d, %d", x, y))).after(thought{"That was the last page.", "Get started."}),
		call("mobile_list_elements_on_screen", object("device", device), content("Found these elements on screen: [{\"type\":\"android.widget.TextView\",\"text\":\"Home\",\"coordinates\":{\"x\":60,\"y\":140,\"width\":300,\"height\":80}}]")).after(thought{next: "It should be the home screen now."})), 0
}

// beaconsPaired pairs and trusts beacon after beacon; some take a second attempt.
func beaconsPaired(p *generator) (entries []entry, _ int) {
	run, prefix, done := p.commands(), fmt.Sprintf("C4:%02X:%02X", p.IntN(256), p.IntN(256)), ""
	for k := range p.between(6, 9) {
		address, name := fmt.Sprintf("%s:%02X:%02X:%02X", prefix, p.IntN(256), p.IntN(256), k*11+p.IntN(11)), fmt.Sprintf("beacon %d", k+1)
		pair := "bluetoothctl --timeout 20 pair " + address
		attempt, said := "Attempting to pair with "+address+"\n", p.nextItem(done, name)
		if p.IntN(3) == 0 {
			entries = append(entries, run(pair, attempt+"[CHG] Device "+address+" Connected: yes\n"+p.pick("Failed to pair: org.bluez.Error.AuthenticationTimeout", "Failed to pair: org.bluez.Error.ConnectionAttemptFailed", "[CHG] Device "+address+" Connected: no\nFailed to pair: org.bluez.Error.AuthenticationCanceled"), 1).after(said))
			said = thought{"It was too slow.", p.pick("Once more.", "A second attempt.", "Let me repeat that.")}
		}
		entries = append(entries,
			run(pair, attempt+"[CHG] Device "+address+" Connected: yes\n[CHG] Device "+address+" Bonded: yes\n[CHG] Device "+address+" Paired: yes\nPairing successful", 0).after(said),
			run("bluetoothctl trust "+address, "[CHG] Device "+address+" Trusted: yes\nChanging "+address+" trust succeeded", 0).after(thought{"Paired.", p.pick("Trust it.", "Now trust it, so that it reconnects.", "")}))
		done = name
	}
	return entries, 0
}
