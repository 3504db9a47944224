// Records the first camera's depth and color with OpenNI's own recorder: LIBRARY FILE SECONDS.
//
// A process of its own, because the recorder ends its thread with a signal to it, which crashes where that has ended already.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *library;

// Calls a function of the library that returns 0 where it works.
#define CALL(name, ...)                                                                                                   \
    do {                                                                                                                  \
        int (*call) () = (int (*) ()) dlsym (library, name);                                                              \
        int status = call ? call (__VA_ARGS__) : -1;                                                                      \
        if (status) {                                                                                                     \
            fprintf (stderr, "%s: %d\n", name, status);                                                                   \
            exit (1);                                                                                                     \
        }                                                                                                                 \
    } while (0)

int
main (int count, char **words)
{
    void *device, *recorder, *streams[2];
    if (count != 4 || !(library = dlopen (words[1], RTLD_NOW))) return 2;
    CALL ("oniInitialize", 2000);
    CALL ("oniDeviceOpen", "0001", &device);
    CALL ("oniCreateRecorder", words[2], &recorder);
    for (int i = 0; i < 2; i++) {
        CALL ("oniDeviceCreateStream", device, 3 - i, &streams[i]);
        CALL ("oniRecorderAttachStream", recorder, streams[i], 0);
    }
    CALL ("oniRecorderStart", recorder);
    for (int i = 0; i < 2; i++) CALL ("oniStreamStart", streams[i]);
    usleep ((useconds_t) (atof (words[3]) * 1000000));
    CALL ("oniRecorderDestroy", &recorder);
    _exit (0);
}
