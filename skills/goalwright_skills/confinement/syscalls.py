"""The system calls in the filter, with their numbers on x86-64 and arm64, grouped by how the filter treats them.

The format is `name x86 arm`; a single number counts for both, and `-` means that arm64 has no such call. Calls in no
table, such as those that new kernels add, are refused.
"""

from __future__ import annotations

import functools

# Allowed: they affect only open files, paths that Landlock or a mount checks, or the caller itself.
FILES = """
open 2 -, openat 257 56, openat2 437, creat 85 -, close 3 57, close_range 436, read 0 63, write 1 64,
readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70, preadv2 327 286,
pwritev2 328 287, lseek 8 62, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, access 21 -,
faccessat 269 48, faccessat2 439, readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61,
getcwd 79 17, chdir 80 49, fchdir 81 50, umask 95 166, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -,
unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -,
symlinkat 266 36, mknod 133 -, mknodat 259 33, ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83,
sync_file_range 277 84, fadvise64 221 223, readahead 187 213, statfs 137 43, fstatfs 138 44, sendfile 40 71,
copy_file_range 326 285, splice 275 76, tee 276 77, vmsplice 278 75, dup 32 23, dup2 33 -, dup3 292 24,
pipe 22 -, pipe2 293 59, flock 73 32, fgetxattr 193 10, flistxattr 196 13, cachestat 451
"""
WAITING = """
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441, eventfd 284 -, eventfd2 290 19,
signalfd 282 -, signalfd4 289 74, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87,
futex 202 98, futex_waitv 449, futex_wake 454, futex_wait 455, futex_requeue 456, set_robust_list 273 99,
nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169,
time 201 -, times 100 153, getitimer 36 102, setitimer 38 103, alarm 37 -, pause 34 -, timer_create 222 107,
timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111
"""
MEMORY = """
mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, msync 26 227, mincore 27 232, madvise 28 233,
brk 12 214, mlock 149 228, mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231,
memfd_create 319 279, remap_file_pages 216 234, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236,
set_mempolicy_home_node 450, pkey_mprotect 329 288, pkey_alloc 330 289, pkey_free 331 290, membarrier 324 283,
map_shadow_stack 453, mseal 462
"""
PROCESSES = """
fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260,
waitid 247 95, getpid 39 172, getppid 110 173, gettid 186 178, getpgid 121 155, getpgrp 111 -, getsid 124 156,
pidfd_open 434, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getgroups 115 158,
getresuid 118 148, getresgid 120 150, setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143,
setresuid 117 147, setresgid 119 149, setgroups 116 159, setfsuid 122 151, setfsgid 123 152, capget 125 90,
capset 126 91, getrlimit 97 163, setrlimit 160 164, getrusage 98 165, getpriority 140 141, ioprio_get 252 31,
sysinfo 99 179, uname 63 160, getcpu 309 168, getrandom 318 278, sched_yield 24 124, sched_getaffinity 204 123,
sched_getparam 143 121, sched_getscheduler 145 120, sched_getattr 315 275, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, sched_rr_get_interval 148 127, rt_sigaction 13 134, rt_sigprocmask 14 135,
rt_sigpending 127 136, rt_sigsuspend 130 133, rt_sigtimedwait 128 137, rt_sigreturn 15 139,
sigaltstack 131 132, restart_syscall 219 128, set_tid_address 218 96, rseq 334 293, arch_prctl 158 -,
seccomp 317 277, landlock_create_ruleset 444, landlock_add_rule 445, landlock_restrict_self 446
"""
SOCKETS = """
connect 42 203, accept 43 202, accept4 288 242, bind 49 200, listen 50 201,
getsockname 51 204, getpeername 52 205, setsockopt 54 208, getsockopt 55 209, shutdown 48 210, sendto 44 206,
recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243
"""
# Allowed if Landlock confines signals; otherwise only to the tool itself.
SIGNALS = """
kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
pidfd_send_signal 424
"""
# Allowed with certain arguments only.
CHECKED = """
socket 41 198, socketpair 53 199, clone 56 220, ioctl 16 29, fcntl 72 25, prctl 157 167, prlimit64 302 261,
personality 135 92,
setpriority 141 140, ioprio_set 251 30, sched_setaffinity 203 122, sched_setscheduler 144 119,
sched_setparam 142 118, sched_setattr 314 274, truncate 76 45
"""
# Refused under Landlock, because the launcher kills the process group.
LEAVING = """
setsid 112 157, setpgid 109 154
"""
# Refused under Landlock, which does not restrict them: watching a folder, and reading the attributes of a file by its
# path. The attributes of an open file are allowed.
WATCHING = """
inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, inotify_rm_watch 255 28
"""
ATTRIBUTES = """
getxattr 191 8, lgetxattr 192 9, listxattr 194 11, llistxattr 195 12
"""
# Ignored under Landlock, which does not restrict them; programs that copy files use them all the time.
METADATA = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452, chown 92 -, fchown 93 55, lchown 94 -,
fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5, lsetxattr 189 6,
fsetxattr 190 7, setxattrat 463, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
removexattrat 466
"""
# Refused with EPERM: they affect other processes, the machine, or objects that outlive the call.
DENIED = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438, bpf 321 280, perf_event_open 298 241,
add_key 248 217, request_key 249 218, keyctl 250 219, userfaultfd 323 282, init_module 175 105,
finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294,
open_by_handle_at 304 265, open_tree 428, move_mount 429, fsopen 430, fsconfig 431, fsmount 432, fspick 433,
mount_setattr 442, swapon 167 224, reboot 169 142, acct 163 89, open_tree_attr 467, process_madvise 440,
process_mrelease 448, kcmp 312 272, move_pages 279 239, migrate_pages 256 238, shmget 29 194, shmat 30 196,
shmctl 31 195, shmdt 67 197, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, semget 64 190,
semop 65 193, semctl 66 191, semtimedop 220 192, mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182,
mq_timedreceive 243 183, mq_notify 244 184, mq_getsetattr 245 185, quotactl 179 60, syslog 103 116,
settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266, sethostname 170 161,
setdomainname 171 162
"""
# Refused with ENOSYS, on which libraries fall back to other calls.
ABSENT = """
clone3 435, io_uring_setup 425, io_uring_enter 426, io_uring_register 427, memfd_secret 447,
fanotify_init 300 262, file_getattr 468, file_setattr 469
"""
ALLOWED = (FILES, WAITING, MEMORY, PROCESSES, SOCKETS)
ALL = (*ALLOWED, SIGNALS, CHECKED, LEAVING, WATCHING, ATTRIBUTES, METADATA, DENIED, ABSENT)


@functools.cache
def numbers(table: str, column: int) -> dict[str, int]:
    """Return the calls of a table with their numbers in a column: 0 for x86-64, 1 for arm64."""
    calls = {}
    for row in table.split(","):
        name, *columns = row.split()
        value = columns[column if len(columns) > 1 else 0]
        if value != "-":
            calls[name] = int(value)
    return calls
