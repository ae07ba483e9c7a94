package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work on phones, boards and sensors.

func deviceLoops() []kind {
	return []kind{
		{name: "signing_profile_missing", build: signingProfileMissing},
		{name: "power_on_value_read", build: powerOnValueRead},
		{name: "update_rolls_back", build: updateRollsBack},
		{name: "baud_rates_gone_round", build: baudRatesGoneRound},
	}
}

// signingProfileMissing archives an app with other settings for signing; the machine has no profile at all.
func signingProfileMissing(p *generator) (entries []entry, _ int) {
	run, app := p.patientShell(), capitalized(p.word())
	bundle, team := "com.example."+strings.ToLower(app), fmt.Sprintf("%c%d%cK%dLM%d", 'A'+rune(p.IntN(26)), p.IntN(10), 'A'+rune(p.IntN(26)), p.IntN(10), p.between(10, 99))
	words := wording{
		first: []string{"I'll archive the app.", "Let me build the archive."},
		seen:  []string{"No profiles were found.", "Signing fails again.", "The profile is still missing.", "ARCHIVE FAILED for the same reason.", "It can't find a provisioning profile."},
		next:  []string{"Let me try automatic signing.", "I'll pass the team explicitly.", "Perhaps another identity works.", "Let me allow the registration of devices.", "I'll archive again.", "Let me pass the identity."},
	}
	for round := range p.between(5, 8) {
		flags, note := "", ""
		if round > 0 {
			flags = p.pick("", " CODE_SIGN_STYLE=Automatic") + p.pick("", " DEVELOPMENT_TEAM="+team) + p.pick("", " -allowProvisioningDeviceRegistration")
		}
		if round > 0 && p.IntN(3) == 0 {
			flags, note = flags+" CODE_SIGN_IDENTITY=\"Apple Development\"", "note: Using codesigning identity override: Apple Development\n"
		}
		command := fmt.Sprintf("xcodebuild -workspace %[1]s.xcworkspace -scheme %[1]s -configuration Release -archivePath build/%[1]s.xcarchive -allowProvisioningUpdates%[2]s archive 2>&1 | tail -n 12", app, flags)
		output := note + fmt.Sprintf("note: Building targets in dependency order\nnote: Target dependency graph (%d targets)\n/Users/ci/work/%[2]s.xcodeproj: error: No Accounts: Add a new account in Accounts settings. (in target '%[2]s' from project '%[2]s')\n/Users/ci/work/%[2]s.xcodeproj: error: No profiles for '%[3]s' were found: Xcode couldn't find any iOS App Development provisioning profiles matching '%[3]s'. (in target '%[2]s' from project '%[2]s')\n** ARCHIVE FAILED **\n\nThe following build commands failed:\n\tArchiving workspace %[2]s with scheme %[2]s\n(1 failure)", 14+len(app), app, bundle)
		entries = append(entries, run(command, output, 0).after(words.of(p, round)))
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, run(p.pick("security find-identity -v -p codesigning", "security find-identity -p codesigning"), "     0 valid identities found", 0).after(thought{next: p.pick("Which identities are there?", "Let me look at the keychain.")}))
		}
	}
	return entries, 1
}

// powerOnValueRead reads a thermometer, which returns the value that it has after power-on, and sets it up anew in between.
func powerOnValueRead(p *generator) (entries []entry, _ int) {
	run, id := p.commands(), fmt.Sprintf("28-%012x", p.Uint64N(1<<44))
	read, value := "cat /sys/bus/w1/devices/"+id+"/w1_slave", "50 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n50 05 4b 46 7f ff 0c 10 1c t=85000"
	switch p.IntN(3) {
	case 0:
		read, value = "python3 read_temp.py --sensor "+id, "85.0"
	case 1:
		read, value = "cat /sys/bus/w1/devices/"+id+"/temperature", "85000"
	}
	remedies := []string{"sudo modprobe -r w1_therm && sudo modprobe w1_therm", "echo 12 | sudo tee /sys/bus/w1/devices/" + id + "/resolution > /dev/null", "sudo rmmod w1_therm w1_gpio && sudo modprobe w1_gpio && sudo modprobe w1_therm", "echo 9 | sudo tee /sys/bus/w1/devices/" + id + "/resolution > /dev/null", "sleep 10", "sudo dtoverlay -r w1-gpio && sudo dtoverlay w1-gpio gpiopin=4"}
	words := wording{
		first: []string{"Let me read the sensor.", "I'll read the temperature."},
		seen:  []string{"85 degrees can't be right.", "Still 85.", "The same value.", "The reading hasn't changed.", "85 again."},
		next:  []string{"Let me reload the driver.", "I'll set the resolution.", "Let me initialise the bus again.", "Perhaps the conversion needs more time.", "I'll set it up once more."},
	}
	entries = append(entries, run(read, value, 0).after(words.of(p, 0)))
	for range p.between(3, 7) {
		entries = append(entries,
			run(remedies[p.IntN(len(remedies))], "", 0).after(words.of(p, 1)),
			run(read, value, 0).after(thought{next: p.pick("Read again.", "And now?", "Let me read it again.", "What does it say now?")}))
	}
	return entries, 2
}

// updateRollsBack updates the firmware of a device; each update is completed, and the device comes up with the old version.
func updateRollsBack(p *generator) (entries []entry, _ int) {
	device, prefix := fmt.Sprintf("gw-%05d", p.IntN(100_000)), p.pick("", "mcp__fleet__", "iot_")
	old := fmt.Sprintf("%d.%d.%d", p.between(1, 4), p.IntN(10), p.IntN(20))
	target, clock, slot := fmt.Sprintf("%d.%d.0", p.between(5, 7), p.IntN(10)), p.passingTime(), p.pick("A", "B")
	words := wording{
		first: []string{"I'll update " + device + " to " + target + ".", "Let me start the update."},
		seen:  []string{"It still runs " + old + ".", "The version hasn't changed.", "The old version again, although the update completed.", "The device reports " + old + ".", "Not updated."},
		next:  []string{"Let me start the update again.", "I'll force the update.", "Let me push it once more.", "Perhaps it works the next time.", "I'll schedule it again right now."},
	}
	for round := range p.between(3, 5) {
		job, args := fmt.Sprintf("upd-%06x", p.IntN(1<<24)), []any{"device_id", device, "version", target}
		if round > 0 && p.coin() {
			args = append(args, "force", true)
		}
		if p.IntN(3) == 0 {
			args = append(args, "window", "immediate")
		}
		entries = append(entries,
			call(prefix+"start_update", object(args...), object("accepted", true, "job_id", job, "queued_at", clock())).after(words.of(p, round)),
			call(prefix+"get_update_job", object("job_id", job), object("job_id", job, "state", "completed", "progress", 100, "bytes_sent", 4_194_304+len(device), "finished_at", clock())).after(thought{next: p.pick("How far is the job?", "Let me check the job.", "Is it through?")}),
			call(prefix+"get_device", object("device_id", device), object("device_id", device, "online", true, "firmware", old, "boot_slot", slot, "uptime_s", p.between(20, 90), "rssi_dbm", -p.between(55, 71), "last_seen", clock())).after(thought{p.pick("The job is completed.", "100 percent.", ""), p.pick("Which version does it run?", "Let me verify the version.", "Check the device.")}))
	}
	return entries, 3
}

// baudRatesGoneRound listens to a serial line at five rates, and then at the same five again; all that comes is noise.
func baudRatesGoneRound(p *generator) (entries []entry, _ int) {
	run, port := p.commands(), p.pick("/dev/ttyUSB0", "/dev/ttyACM0", "/dev/ttyS1", "/dev/ttyAMA0")
	rates := []int{115200, 9600, 57600, 38400, 19200}
	listen := func(rate int, options string, said thought) {
		var dump strings.Builder
		for row := range p.between(2, 5) {
			fmt.Fprintf(&dump, "%08x:", 16*row)
			text := ""
			for k := range 16 {
				if k%2 == 0 {
					dump.WriteByte(' ')
				}
				b := byte(p.pickInt(0x00, 0x80, 0xf8, 0xff, 0xe0, p.IntN(256)))
				fmt.Fprintf(&dump, "%02x", b)
				if b < 32 || b > 126 {
					b = '.'
				}
				text += string(rune(b))
			}
			dump.WriteString("  " + text + "\n")
		}
		entries = append(entries, run(fmt.Sprintf("stty -F %s %d %s && timeout 4 cat %s | xxd | head", port, rate, options, port), strings.TrimSuffix(dump.String(), "\n"), 0).after(said))
	}
	for k, rate := range rates {
		said := thought{p.pick("Garbage.", "Not readable.", "That isn't text."), fmt.Sprintf(p.pick("Let me try %d baud.", "Next rate: %d.", "%d, perhaps."), rate)}
		if k == 0 {
			said = thought{next: fmt.Sprintf("I'll listen to the console at %d baud.", rate)}
		}
		listen(rate, "raw -echo", said)
	}
	for range p.between(5, 9) {
		rate := rates[p.IntN(len(rates))]
		said := thought{p.pick("Still garbage.", "Noise again.", "Unreadable bytes.", "No text at this rate."), fmt.Sprintf(p.pick("Let me go back to %d.", "I'll try %d once more.", "Maybe %d after all.", "Let me try %d again with other settings.", "%d should be the default of this board."), rate)}
		listen(rate, p.pick("raw -echo", "raw -echo", "cs8 -cstopb -parenb raw", "raw -echo -crtscts", "cs8 raw -ixon"), said)
	}
	return entries, 5
}
